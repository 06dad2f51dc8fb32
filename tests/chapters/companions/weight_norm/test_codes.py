"""Both codes of networks: they come back, and their lengths keep the bounds."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chapters.companions.weight_norm import (
    cell,
    codec,
    distances,
    permutations,
    printers,
    prior,
    tag,
)
from oracles.weight_norm_networks import network_of, parts, tidy


@settings(max_examples=200)
@given(parts(cells=30))
def test_round_trip_is_exact(some):
    network = network_of(some)
    assert codec.decode(codec.encode(network)) == network


@settings(max_examples=200)
@given(parts(most=30, species=12, cells=60))
def test_no_tidy_network_exceeds_the_bounds(some):
    network = tidy(network_of(some))
    if network.weight_count:
        length = len(codec.encode(network))
        assert length <= codec.bound(network.weight_count, network.species_count)
        assert length <= codec.general_bound(network.weight_count)


@given(parts(cells=30), st.lists(st.integers(0, 1), max_size=5))
def test_codes_end_themselves(some, rest):
    network = network_of(some)
    bits = codec.encode(network)
    with pytest.raises(ValueError, match="end within"):
        codec.decode(bits[:-1])
    if rest:
        with pytest.raises(ValueError, match="left over"):
            codec.decode(bits + rest)


def test_a_link_that_does_not_exist_is_refused():
    # four species, one cell, no tape, one shared weight: 0 to 0 by link 7
    bits = [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, *[0, 0], *[0, 0], *[1, 1, 1], 1, 1]
    with pytest.raises(ValueError, match="does not exist"):
        codec.decode(bits)


def test_real_networks_come_back():
    stream = random.Random(0)
    some = [stream.sample(range(64), 64) for _ in range(2)]
    for network in (
        printers.literal([1, 0, 1] * 20),
        printers.zeros_then_one(1000),
        cell.machine([1, 0, 0, 1]),
        permutations.permutation_network(some),
    ):
        bits = codec.encode(network)
        assert codec.decode(bits) == network == tidy(network)


def test_general_bound_covers_every_number_of_species():
    for weights in (1, 2, 3, 10, 1000, 10**6):
        assert codec.bound(weights, 2 * weights + 3) <= codec.general_bound(weights)


def test_addresses_cost_one_logarithm():
    # with species fixed, length over W log2 W falls towards 1: the linear term is what is left
    stream = random.Random(1)
    rest = []
    for n in (64, 1024):
        network = permutations.permutation_network([stream.sample(range(n), n)])
        weights = network.weight_count
        rest.append(len(codec.encode(network)) / weights - math.log2(weights))
    assert rest[1] <= rest[0]


@settings(max_examples=100)
@given(parts(cells=30))
def test_round_trip_is_exact_of_distances(some):
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
