"""Printers of strings and of permutations: what they print, and what they weigh."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from chapters.companions.weight_norm import printers
from chapters.companions.weight_norm.model import printed

bits = st.lists(st.integers(0, 1), min_size=1, max_size=30)


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


def string_of(*some):
    n, k = len(some[0]), len(some)
    return printed(printers.permutation_network(some), printers.printing_steps(n, k))


def test_every_permutation_of_four_has_a_string_of_its_own():
    assert len({tuple(string_of(p).tolist()) for p in permutations(range(4))}) == 24


@given(
    st.integers(2, 7).flatmap(lambda n: st.lists(st.permutations(range(n)), min_size=1, max_size=4))
)
def test_several_permutations_are_read_back(some):
    n, k = len(some[0]), len(some)
    assert printers.read_permutations(string_of(*some), n) == some
    assert printers.permutation_network(some).weight_count == printers.weight_count(n, k)
