"""All small networks, and one off the grid."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from chapters.companions.weight_norm import precision, small
from chapters.companions.weight_norm.model import Network, Private, Unit, printed
from interruption import assert_resumes


def brute_force(units, most, n_bits):
    """How many networks of each W print each string, network by network."""
    table = [[0] * 2**n_bits for _ in range(most + 1)]
    for weights in product((-1, 0, 1), repeat=units * (units + 1)):
        price = sum(map(abs, weights))
        if price > most:
            continue
        state, word = [0] * units, 0
        for _ in range(n_bits):
            inputs = [*state, 1]
            rows = [weights[i * (units + 1) : (i + 1) * (units + 1)] for i in range(units)]
            state = [int(sum(w * x for w, x in zip(row, inputs, strict=True)) > 0) for row in rows]
            word = 2 * word + state[0]
        table[price][word] += 1
    return table


@pytest.mark.parametrize(("units", "most", "n_bits"), [(1, 2, 4), (2, 6, 6), (3, 3, 5)])
def test_counts_are_those_of_brute_force(units, most, n_bits):
    assert small.counts(units, most, n_bits).tolist() == brute_force(units, most, n_bits)


@pytest.mark.parametrize("kill_after", [1, 5])
def test_a_killed_enumeration_ends_in_the_same_counts(kill_after):
    assert_resumes(lambda: small.counts(2, 6, 6), kill_after)


def test_every_network_is_counted_once():
    expected = [math.comb(20, k) * 2**k for k in range(5)]
    assert small.counts(4, 4, 3).sum(axis=1).tolist() == expected


def test_small_networks_are_looped_networks():
    rows = small.all_rows(4)
    stream = np.random.default_rng(0)
    chosen = stream.integers(len(rows.weights), size=(4, 50))
    words = small.walk(rows, chosen, 12)
    # unit 0 is `out`; the others and the constant are species of their own
    units = [Unit(1, 0), *(Unit(3, i) for i in range(3))]
    for network, word in zip(chosen.T, words.tolist(), strict=True):
        private = frozenset(
            Private(target, source, int(sign))
            for target, row in zip(units, network, strict=True)
            for source, sign in zip([*units, Unit(0, 0)], rows.weights[row], strict=True)
            if sign
        )
        string = printed(Network(private, frozenset()), 12)
        assert "".join(map(str, string)) == f"{word:012b}"


def test_prior_is_the_normalised_sum():
    table = np.array([[1, 0, 0, 0], [2, 3, 0, 0], [0, 5, 7, 0]])
    found = small.prior(table, math.log(3))
    shares = np.array([1 + 2 / 3, 3 / 3 + 5 / 9, 7 / 9])
    assert found.strings.tolist() == [0, 1, 2]
    assert found.least.tolist() == [0, 1, 2]
    np.testing.assert_allclose(found.surprise, -np.log2(shares / shares.sum()))


def test_spearman_is_scipys():
    stream = np.random.default_rng(1)
    x, y = stream.integers(5, size=40), stream.normal(size=40)
    assert small.spearman(x, y) == pytest.approx(spearmanr(x, y).statistic)


bits = st.lists(st.integers(0, 1), min_size=1, max_size=80)


@given(bits)
def test_nine_weights_print_any_string(string):
    network = precision.real_network(precision.packed(string))
    assert precision.digits(network, len(string)) == string
    assert len(network) == 9
    assert sum(abs(weight) for weight in network.values()) < Fraction(19, 2)


def test_packed_is_the_binary_fraction():
    assert precision.packed([1, 0, 1]) == Fraction(1, 2) + Fraction(1, 8) + Fraction(1, 16)


def test_double_precision_holds_its_mantissa():
    string = np.random.default_rng(0).integers(2, size=200).tolist()
    shown = precision.digits(precision.real_network(float(precision.packed(string))), 200)
    right = next(i for i, (a, b) in enumerate(zip(shown, string, strict=True)) if a != b)
    assert 45 <= right <= 60


@given(bits, st.integers(1, 60))
def test_digits_of_a_weight_are_bits_printed(string, digits):
    assert precision.recovered(string, digits) >= min(digits - 1, len(string))


def test_a_cut_weight_loses_the_rest():
    string = [1, 0] * 40
    assert precision.recovered(string, 20) < 25
