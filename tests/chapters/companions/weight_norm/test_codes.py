"""The code of networks: it comes back, and its length keeps the bounds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chapters.companions.weight_norm import codec
from oracles.weight_norm_networks import network_of, parts, tidy


@settings(max_examples=100)
@given(parts(cells=30))
def test_round_trip_is_exact(some):
    network = network_of(some)
    assert codec.decode(codec.encode(network)) == network


@settings(max_examples=100)
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


def test_general_bound_covers_every_number_of_species():
    for weights in (1, 2, 3, 10, 1000, 10**6):
        assert codec.bound(weights, 2 * weights + 3) <= codec.general_bound(weights)
