"""Looped networks against a simulation unit by unit."""

import pytest
from hypothesis import given, settings

from chapters.companions.weight_norm.model import (
    LoopedNetwork,
    Private,
    Shared,
    Unit,
    printed_string,
    states_over_time,
)
from oracles.weight_norm_networks import network_of, parts, print_of, simulated

STEPS = 5


@settings(max_examples=60)
@given(parts())
def test_states_are_those_of_the_definition(some):
    network = network_of(some)
    species = list(range(network.species_count))
    reach = 2 * STEPS
    states = states_over_time(network, STEPS, species, reach=reach)
    history = simulated(network, STEPS)
    for s, seen in zip(species, states, strict=True):
        if s in network.tapes:
            indices = range(-STEPS, STEPS + 1)
            seen = seen[:, reach - STEPS : reach + STEPS + 1]
        else:
            indices = range(network.cell_count)
        assert seen.tolist() == [[int(Unit(s, i) in on) for i in indices] for on in history]


@given(parts())
def test_prints_are_those_of_the_definition(some):
    network = network_of(some)
    assert printed_string(network, STEPS).tolist() == print_of(network, STEPS)


@pytest.mark.parametrize(
    ("private", "shared", "tapes", "message"),
    [
        ({Private(Unit(3, 0), Unit(0, 0), 0)}, (), (), "-1 or 1"),
        ((), {Shared(3, 0, "each", 2)}, (), "-1 or 1"),
        ({Private(Unit(3, 0), Unit(0, 0), 1), Private(Unit(3, 0), Unit(0, 0), -1)}, (), (), "one"),
        ((), {Shared(3, 0, "pool", 1), Shared(3, 0, "pool", -1)}, (), "one"),
        ({Private(Unit(3, 1), Unit(0, 0), 1)}, (), {3}, "place 0"),
        ({Private(Unit(3, -1), Unit(0, 0), 1)}, (), (), "negative"),
        ((), {Shared(3, 4, "each", 1)}, {3}, "place by place"),
        ((), {Shared(3, 4, "left", 1)}, (), "have none"),
        ((), {Shared(1, 3, "pool", 1)}, {3}, "endless"),
    ],
)
def test_rules_are_kept(private, shared, tapes, message):
    with pytest.raises(ValueError, match=message):
        LoopedNetwork(frozenset(private), frozenset(shared), frozenset(tapes))
