"""Looped networks against a simulation unit by unit."""

import pytest
from hypothesis import given, settings

from chapters.companions.weight_norm.model import Network, Private, Shared, Unit, printed, run
from chapters.companions.weight_norm.wiring import Wiring, add_toggle, started
from oracles.weight_norm_networks import network_of, parts, print_of, simulated, tidy

STEPS = 5


@settings(max_examples=60)
@given(parts())
def test_states_are_those_of_the_definition(some):
    network = network_of(some)
    species = list(range(network.species_count))
    reach = 2 * STEPS
    states = run(network, STEPS, species, reach=reach)
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
    assert printed(network, STEPS).tolist() == print_of(network, STEPS)


@given(parts(cells=40))
def test_tidying_changes_no_weight_count_and_no_print(some):
    network = network_of(some)
    small = tidy(network)
    assert small.weight_count == network.weight_count
    assert small.cell_count <= 2 * len(small.private) + 1
    assert small.species_count <= 2 * small.weight_count + 3
    if not any(weight.link == "pool" for weight in network.shared):
        # an untouched cell that a bias switches on is pooled too: it is no part of the network
        assert printed(small, STEPS).tolist() == printed(network, STEPS).tolist()


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
        Network(frozenset(private), frozenset(shared), frozenset(tapes))


def test_nothing_is_wired_twice():
    wiring = Wiring()
    wiring.wire("a", "one")
    wiring.wire("a", "one")
    with pytest.raises(ValueError, match="twice"):
        wiring.build()


@pytest.mark.parametrize(("link", "way"), [("left", 1), ("right", -1), ("each", 0)])
def test_a_pulse_moves_along_a_tape(link, way):
    wiring = started(("belt",))
    wiring.wire("belt", "start")
    wiring.share("belt", "belt", link)
    (belt,) = run(wiring.build(), 5, (3,), reach=6)
    assert belt[5].nonzero()[0].tolist() == [6 + 3 * way]  # on place 0 at time 2


def test_start_fires_once():
    wiring = started()
    wiring.wire("out", "start")
    assert printed(wiring.build(), 6).tolist() == [0, 1, 0, 0, 0, 0]


def test_toggle_passes_every_second_pulse_at_any_distance():
    pulses = [1, 3, 6, 8, 13, 20, 22, 24]
    wiring = started()
    before = "start"
    for time in range(2, max(pulses) + 1):
        wiring.wire(("wait", time), before)
        before = ("wait", time)
    for time in pulses:
        wiring.wire("pulse", ("wait", time) if time > 1 else "start")
    add_toggle(wiring, "pulse")
    wiring.wire("out", "carry")
    on = printed(wiring.build(), 40).nonzero()[0] + 1
    assert on.tolist() == [t + 3 for t in pulses[1::2]]  # pulse, carry and out are a step each
