"""The prior of weight decay: relabelled copies and trained networks."""

import math

import numpy as np
import pytest
import torch

from chapters.companions.weight_norm import printers, prior, tag
from chapters.companions.weight_norm.model import Network, Private, Unit
from interruption import assert_resumes


def test_chains_have_as_many_copies_as_orders_and_all_print_the_same():
    program = tag.machine(["say1", "add0"], ["del", "say0"])
    for network in (printers.literal([1, 0, 0, 1, 1]), program):
        orders = math.factorial(network.cell_count - 1)
        assert prior.count_copies(network, 20) == (orders, orders)


def test_a_symmetric_network_has_fewer():
    # cells 1 and 2 both feed `out` from the constant
    one, out = Unit(0, 0), Unit(1, 0)
    weights = [Private(out, Unit(3, i), 1) for i in (1, 2)]
    weights += [Private(Unit(3, i), one, 1) for i in (1, 2)]
    assert prior.count_copies(Network(frozenset(weights), frozenset()), 5) == (2, 1)


def test_cell_zero_stays():
    with pytest.raises(ValueError, match="leaves cell 0"):
        prior.relabelled(printers.literal([1, 0]), (1, 0))


def test_the_bound_is_the_probability_of_the_copies():
    weights, species, cells = 5, 3, 4
    ratio = 1 / (2 * species**2 * cells)
    slots = (species * cells) ** 2 + 5 * species**2
    one = ratio**weights / (1 + 2 * ratio) ** slots
    found = [prior.surprise(weights, species, cells, copies=c) for c in (False, True)]
    assert found == pytest.approx([-math.log2(one), -math.log2(math.factorial(3) * one)])


def test_with_copies_a_command_costs_the_same_at_any_length():
    n = 10**6
    one, twice = (prior.surprise(m + 51, 23, m, copies=True) / m for m in (n, 2 * n))
    assert one == pytest.approx(prior.per_command(23), rel=1e-3)
    assert twice == pytest.approx(one, rel=1e-3)
    alone = [prior.surprise(m + 51, 23, m, copies=False) / m for m in (n, 2 * n)]
    assert alone[1] - alone[0] == pytest.approx(1, abs=1e-2)


def test_no_other_decay_of_this_form_gives_a_better_limit():
    # c / N with c = 1 / (2 S^2) minimises log2(1 / c) + 2 S^2 c log2 e
    species = 23
    best = prior.per_command(species) - 1 / math.log(2)
    for factor in (0.5, 0.9, 1.1, 2.0):
        c = factor / (2 * species**2)
        assert -math.log2(c) + 2 * species**2 * c / math.log(2) > best


SIZES = {"n_bits": 6, "units": 3, "runs": 2, "learning_rate": 0.03, "seed": 0}


def test_logits_are_those_of_the_recurrence():
    stream = torch.Generator().manual_seed(0)
    weights, bias = torch.randn(1, 3, 3, generator=stream), torch.randn(1, 3, generator=stream)
    state, seen = np.zeros(3), []
    for _ in range(4):
        field = weights[0].numpy() @ state + bias[0].numpy()
        seen.append(field[0])
        state = 1 / (1 + np.exp(-field))
    np.testing.assert_allclose(prior.logits(weights, bias, 4)[0], seen, rtol=1e-5)


def test_bits_come_highest_first():
    assert prior.bits_of([0b0110], 4).tolist() == [[0, 1, 1, 0]]


def test_zeros_are_learnt_and_decay_makes_them_light():
    heavy, light = (
        prior.train_looped([0, 0b010101], steps=300, decay=decay, **SIZES) for decay in (0.0, 1e-2)
    )
    assert light.printed[0].all()
    assert (light.norm < heavy.norm).all()
    assert light.norm[0].min() < light.norm[1].min()


def test_a_killed_training_ends_in_the_same_norms():
    assert_resumes(lambda: prior.train_looped([5], steps=6, decay=1e-3, **SIZES), 3)
