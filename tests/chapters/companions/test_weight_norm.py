"""The tag machine as a network, relabelled copies, all small networks, and trained ones."""

import itertools
import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from chapters.companions import weight_norm
from chapters.companions.weight_norm import LoopedNetwork, Private, TrainedPrinters, Unit
from interruption import assert_resumes

commands = st.lists(st.sampled_from(weight_norm.COMMANDS), max_size=6)


def printed(network, steps):
    """What a network prints in so many steps, weight by weight; `gate` says when."""
    on, prints = {Unit("one")}, []
    for _ in range(steps):
        total = Counter()
        for target, source, sign in network.private:
            total[target] += sign * (source in on)
        for target, source, link, sign in network.shared:
            if link == "broadcast":  # matters next to units that are on
                near = {unit.cell + by for unit in on for by in (-1, 0, 1)}
                places = near if Unit(source) in on else ()
            elif link == "pool":
                places = [0 for unit in on if unit.species == source]
            else:
                by = {"each": 0, "left": 1, "right": -1}[link]
                places = [unit.cell + by for unit in on if unit.species == source]
            for place in places:
                total[Unit(target, place)] += sign
        on = {Unit("one"), *(unit for unit, sum_ in total.items() if sum_ > 0)}
        prints += [int(Unit("out") in on)] if Unit("gate") in on else []
    return prints


def spoken(once, loop, n_commands):
    """What a program prints, with the queue as text."""
    queue, said, at, program = "1", [], 0, [*once, *loop]
    for _ in range(n_commands):
        match program[at], queue[:1]:
            case "del", _:
                queue = queue[1:]
            case "add0" | "add1" as add, "1":
                queue += add[3]
            case "say0" | "say1" as say, "1":
                said.append(int(say[3]))
        at = at + 1 if at + 1 < len(program) else len(once)
    return said


@settings(max_examples=40, deadline=None)
@given(commands, commands.filter(bool))
def test_the_network_is_the_machine(once, loop):
    network = weight_norm.tag_machine(once, loop)
    assert network.weight_count == len(once) + len(loop) + 51
    assert printed(network, weight_norm.PERIOD * 25) == spoken(once, loop, 25)


def test_a_machine_needs_a_loop_and_hides_nothing_in_an_address():
    with pytest.raises(ValueError, match="a program needs a loop"):
        weight_norm.tag_machine(["del"], [])
    network = weight_norm.tag_machine(["say1", "add0"], ["del"])
    touched = {unit for weight in network.private for unit in weight[:2]}
    assert not any(unit.cell for unit in touched if unit.species in network.tapes)
    assert len({weight[:2] for weight in network.private}) == len(network.private)
    assert len({weight[:3] for weight in network.shared}) == len(network.shared)
    for target, source, link, _ in network.shared:
        ends = {target in network.tapes, source in network.tapes}
        assert len(ends) == 1 or link in ("broadcast", "pool")
        assert ends == {True} or link not in ("left", "right")
        assert source not in network.tapes or link != "pool"


def relabelled(network, places):
    """Cell i moved to `places[i]`; cell 0 stays, for it holds the constant, `out` and `gate`."""

    def moved(unit):
        return Unit(unit.species, places[unit.cell])

    private = frozenset(Private(moved(t), moved(s), sign) for t, s, sign in network.private)
    return LoopedNetwork(private, network.shared, network.tapes)


def test_all_relabellings_of_a_program_are_different_networks_that_print_the_same():
    network = weight_norm.tag_machine(["say1", "add0"], ["del", "say0"])
    orders = [*itertools.permutations(range(1, network.cell_count))]
    copies = {relabelled(network, (0, *order)) for order in orders}
    assert len(copies) == len(orders) == math.factorial(network.cell_count - 1)
    assert {tuple(printed(copy, 20)) for copy in copies} == {tuple(printed(network, 20))}


def test_the_bound_is_the_probability_of_the_copies():
    weights, species, cells = 5, 3, 4
    ratio = 1 / (2 * species**2 * cells)
    slots = (species * cells) ** 2 + 5 * species**2
    single = ratio**weights / (1 + 2 * ratio) ** slots
    result = [weight_norm.surprise(weights, species, cells, copies=c) for c in (False, True)]
    assert result == pytest.approx([-math.log2(single), -math.log2(math.factorial(3) * single)])


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
    result = weight_norm.networks_per_string(units, most, n_bits)
    assert result.tolist() == brute_force(units, most, n_bits)


@pytest.mark.parametrize("kill_after", [1, 5])
def test_a_killed_enumeration_ends_in_the_same_counts(kill_after):
    assert_resumes(lambda: weight_norm.networks_per_string(2, 6, 6), kill_after)


def test_prior_is_the_normalised_sum():
    table = np.array([[1, 0, 0, 0], [2, 3, 0, 0], [0, 5, 7, 0]])
    result = weight_norm.prior(table, math.log(3))
    shares = np.array([1 + 2 / 3, 3 / 3 + 5 / 9, 7 / 9])
    assert result.strings.tolist() == [0, 1, 2]
    assert result.least.tolist() == [0, 1, 2]
    np.testing.assert_allclose(result.surprise, -np.log2(shares / shares.sum()))


def test_logits_are_those_of_the_recurrence():
    stream = torch.Generator().manual_seed(0)
    weights, bias = torch.randn(1, 3, 3, generator=stream), torch.randn(1, 3, generator=stream)
    state, seen = np.zeros(3), []
    for _ in range(4):
        field = weights[0].numpy() @ state + bias[0].numpy()
        seen.append(field[0])
        state = 1 / (1 + np.exp(-field))
    np.testing.assert_allclose(weight_norm.unit_logits(weights, bias, 4)[0], seen, rtol=1e-5)


def trained(strings, steps, decay):
    sizes = TrainedPrinters(units=3, runs=2, trained_steps=steps)
    return weight_norm.train_looped(strings, 6, sizes, decay=decay, seed=0)


def test_zeros_are_learnt_and_decay_makes_them_light():
    heavy, light = (trained([0, 0b010101], 300, decay) for decay in (0.0, 1e-2))
    assert light.printed[0].all()
    assert (light.norm < heavy.norm).all()
    assert light.norm[0].min() < light.norm[1].min()


def test_a_killed_training_ends_in_the_same_norms():
    assert_resumes(lambda: trained([5], 6, 1e-3), 3)
