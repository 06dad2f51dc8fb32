"""The prior of weight decay: relabelled copies and trained networks."""

import itertools
import math

import numpy as np
import pytest
import torch

from chapters.companions.weight_norm import prior
from chapters.companions.weight_norm.model import LoopedNetwork, Private, Unit, printed_string
from interruption import assert_resumes


def relabelled(network, places):
    """Cell i moved to `places[i]`; cell 0 stays, for it holds the constant, `out` and `gate`."""

    def moved(unit):
        return Unit(unit.species, places[unit.index])

    private = frozenset(Private(moved(t), moved(s), sign) for t, s, sign in network.private)
    return LoopedNetwork(private, network.shared, network.tapes)


def test_all_relabellings_of_a_program_are_different_networks_that_print_the_same():
    network = prior.tag_machine(["say1", "add0"], ["del", "say0"])
    orders = [*itertools.permutations(range(1, network.cell_count))]
    copies = {relabelled(network, (0, *order)) for order in orders}
    assert len(copies) == len(orders) == math.factorial(network.cell_count - 1)
    assert {tuple(printed_string(copy, 20)) for copy in copies} == {
        tuple(printed_string(network, 20))
    }


def test_the_bound_is_the_probability_of_the_copies():
    weights, species, cells = 5, 3, 4
    ratio = 1 / (2 * species**2 * cells)
    slots = (species * cells) ** 2 + 5 * species**2
    single = ratio**weights / (1 + 2 * ratio) ** slots
    result = [prior.surprise(weights, species, cells, copies=c) for c in (False, True)]
    assert result == pytest.approx([-math.log2(single), -math.log2(math.factorial(3) * single)])


SIZES = {"n_bits": 6, "units": 3, "runs": 2, "learning_rate": 0.03, "seed": 0}


def test_logits_are_those_of_the_recurrence():
    stream = torch.Generator().manual_seed(0)
    weights, bias = torch.randn(1, 3, 3, generator=stream), torch.randn(1, 3, generator=stream)
    state, seen = np.zeros(3), []
    for _ in range(4):
        field = weights[0].numpy() @ state + bias[0].numpy()
        seen.append(field[0])
        state = 1 / (1 + np.exp(-field))
    np.testing.assert_allclose(prior.unit_logits(weights, bias, 4)[0], seen, rtol=1e-5)


def test_zeros_are_learnt_and_decay_makes_them_light():
    heavy, light = (
        prior.train_looped([0, 0b010101], steps=300, decay=decay, **SIZES) for decay in (0.0, 1e-2)
    )
    assert light.printed[0].all()
    assert (light.norm < heavy.norm).all()
    assert light.norm[0].min() < light.norm[1].min()


def test_a_killed_training_ends_in_the_same_norms():
    assert_resumes(lambda: prior.train_looped([5], steps=6, decay=1e-3, **SIZES), 3)
