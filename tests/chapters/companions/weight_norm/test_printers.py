"""Printers of strings and of permutations: what they print, and what they weigh."""

import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chapters.companions.weight_norm import cell, printers
from chapters.companions.weight_norm import permutations as spelled
from chapters.companions.weight_norm.model import printed

bits = st.lists(st.integers(0, 1), min_size=1, max_size=30)

# Wolfram's table of Rule 110, neighbourhoods 111 to 000
RULE_110 = dict(
    zip(("111", "110", "101", "100", "011", "010", "001", "000"), "01101110", strict=True)
)


def column(program, n_rows):
    """Place 0 of Rule 110, the program reversed to its right, all in text."""
    row = "0" * n_rows + "".join(map(str, reversed(program))) + "0" * n_rows
    found = []
    for _ in range(n_rows):
        found.append(int(row[n_rows]))
        padded = f"0{row}0"
        row = "".join(RULE_110[padded[i : i + 3]] for i in range(len(row)))
    return found


@given(bits)
def test_literal_prints_its_bits_and_no_more(string):
    network = printers.literal(string)
    assert printed(network, len(string) + 20).tolist() == string
    assert network.weight_count == len(string) + 6


@given(bits)
def test_ring_prints_its_bits_for_ever(period):
    network = printers.ring(period)
    string = printed(network, 3 * len(period) + 2).tolist()
    assert string == (3 * period)[: len(string)]
    assert len(string) == 3 * len(period)
    assert network.weight_count == len(period) + 7


@pytest.mark.parametrize("zeros", [*range(3, 60), 127, 128, 1000])
def test_counter_prints_zeros_then_one(zeros):
    string = printed(printers.zeros_then_one(zeros), zeros + 1).tolist()
    assert string == [0] * zeros + [1]


@given(st.integers(3, 10**9))
def test_counter_weighs_a_logarithm(zeros):
    stages = printers.count_for(zeros).stages
    weights = printers.zeros_then_one(zeros).weight_count
    assert 8 * stages + 7 <= weights <= 9 * stages + 8
    assert stages <= math.log2(zeros)


def test_counter_needs_three_zeros():
    with pytest.raises(ValueError, match="at least 3"):
        printers.zeros_then_one(2)


@given(bits)
def test_machine_runs_rule_110(program):
    network = cell.machine(program)
    n_rows = 15
    string = printed(network, len(program) + 2 * n_rows + 10).tolist()
    assert string[:n_rows] == column(program, n_rows)
    assert network.weight_count == len(program) + 22


@given(bits)
def test_rows_are_rule_110(program):
    n_rows = 9
    found = cell.rows(program, n_rows)
    assert found.tolist() == cell.directly(program, n_rows).tolist()
    assert found[:, n_rows].tolist() == column(program, n_rows)


def test_cell_weighs_what_it_says_and_no_cell_less():
    network = cell.machine([1])
    parts = {network.names.index(name) for name in ("x", "begins", "ends")}
    own = [w for w in network.shared if w.target in parts and w.source in parts]
    assert len(own) == cell.CELL_WEIGHTS
    assert cell.least_weights() == cell.CELL_WEIGHTS


@pytest.mark.parametrize(("rule", "weights"), [(170, 2), (204, 2), (51, 3), (252, 3), (192, 4)])
def test_least_cells_of_simple_rules(rule, weights):
    # right, own, not own (a constant too), left or own, left and own (a constant too)
    assert cell.least_weights(rule) == weights


def test_no_cell_is_an_error():
    with pytest.raises(ValueError, match="at most 2"):
        cell.least_weights(110, 2)


def string_of(*some):
    n, k = len(some[0]), len(some)
    return printed(spelled.permutation_network(some), spelled.printing_steps(n, k))


def test_every_permutation_of_four_is_read_back():
    strings = set()
    for permutation in permutations(range(4)):
        string = string_of(permutation)
        assert spelled.read_permutations(string, 4) == [list(permutation)]
        strings.add(tuple(string.tolist()))
    assert len(strings) == 24


@given(
    st.integers(2, 7).flatmap(lambda n: st.lists(st.permutations(range(n)), min_size=1, max_size=4))
)
def test_several_permutations_are_read_back(some):
    n, k = len(some[0]), len(some)
    assert spelled.read_permutations(string_of(*some), n) == some
    assert spelled.permutation_network(some).weight_count == spelled.weight_count(n, k)


@pytest.mark.parametrize("some", [[[0, 0, 1]], [[0, 1, 2], [0, 1]]])
def test_what_is_no_permutation_is_refused(some):
    with pytest.raises(ValueError, match="permutations"):
        spelled.permutation_network(some)


@pytest.mark.parametrize("n", [1, 5, 400])
def test_log_of_the_factorial(n):
    assert spelled.log2_factorial(n) == pytest.approx(math.log2(math.factorial(n)), abs=1e-9)


@pytest.mark.parametrize("k", [1, 4])
def test_ratio_approaches_its_limit_as_the_expansion_says(k):
    n = 2**900
    share = spelled.ratio(n, k) * (k + 2) / k
    # N log2 N - N log2 e over N log2 N + N log2 (k + 2)
    assert share == pytest.approx((900 - math.log2(math.e)) / (900 + math.log2(k + 2)), abs=1e-9)
