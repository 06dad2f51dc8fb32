"""The code by distances: exact there and back, and short where cells follow one another."""

import math
import random

from hypothesis import given, settings

from chapters.companions.weight_norm import cell, distances, permutations, printers, prior, tag
from oracles.weight_norm_networks import network_of, parts


@settings(max_examples=100)
@given(parts(cells=30))
def test_round_trip_is_exact(some):
    network = network_of(some)
    assert distances.decode([symbol.value for symbol in distances.encode(network)]) == network


def test_symbols_fit_their_alphabets():
    stream = random.Random(0)
    for network in (
        tag.machine(["add1", "say0"], ["del", "add0"]),
        cell.machine([1, 0, 0, 1]),
        permutations.permutation_network([stream.sample(range(64), 64)]),
    ):
        symbols = distances.encode(network)
        assert all(0 <= value < size for value, size, _ in symbols)
        sizes = {}
        assert all(sizes.setdefault(s.context, s.size) == s.size for s in symbols if s.context)


def test_lengths_are_those_of_an_adaptive_code():
    symbol = distances.Symbol
    some = [symbol(v, 2, ("a",)) for v in (0, 0, 1)] + [symbol(3, 8)]
    # shares 1/2, (1 + 1/2) / 2, (1/2) / 3, and 1/8
    assert math.isclose(distances.length(some), 2 - math.log2(0.5 * 0.75 / 6 / 8))


def test_random_strings_cost_a_bit_a_bit_and_labels_a_logarithm():
    stream = random.Random(1)
    n = 512
    network = printers.literal([stream.randrange(2) for _ in range(n)])
    chain = distances.length(distances.encode(network))
    mixed = prior.relabelled(network, [0, *stream.sample(range(1, n), n - 1)])
    assert n < chain < n + 300
    # the order of the cells was 511! to choose from
    information = n + permutations.log2_factorial(n - 1)
    assert distances.length(distances.encode(mixed)) > information


def test_permutations_cost_what_they_hold():
    stream = random.Random(2)
    rest = []
    for n in (128, 512):
        some = permutations.permutation_network([stream.sample(range(n), n)])
        code = distances.length(distances.encode(some))
        assert code > permutations.log2_factorial(n)
        rest.append((code - permutations.log2_factorial(n)) / n)
    assert rest[1] < rest[0]
