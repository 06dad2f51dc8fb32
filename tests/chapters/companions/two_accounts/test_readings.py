"""Both probes of a memory: recalls by enumeration, projections, and noise drawn at random."""

import itertools

import numpy as np
import pytest
import torch

from chapters.companions.birth.memories import recall
from chapters.companions.two_accounts import curves, readings
from chapters.companions.two_accounts.readings import AssociativeMemory, Reading, read_memory
from chapters.paper.induction_heads.blocks import matrix_blocks
from chapters.paper.induction_heads.products import products_of
from emergence.models import AttentionOnlyTransformer
from emergence.subspace import INDUCTION_HEAD, NAMES, project


def drawn(size=7, n=20, m=24, seed=0):
    stream = torch.Generator().manual_seed(seed)
    make = {"generator": stream, "dtype": torch.float64}
    return AssociativeMemory(
        torch.randn(n, m, **make), torch.randn(size, n, **make), torch.randn(size, m, **make)
    )


@pytest.mark.parametrize("candidates", [2, 3, 5, 7])
def test_recall_among_few_is_the_mean_over_all_choices(candidates):
    table = drawn().table
    right = [
        all(table[i, i] > table[i, j] for j in rivals)
        for i in range(7)
        for rivals in itertools.combinations({*range(7)} - {i}, candidates - 1)
    ]
    assert readings.recall_among(table, candidates) == pytest.approx(np.mean(right))


def test_recall_among_all_is_the_recall():
    table = drawn(seed=3).table
    assert readings.recall_among(table, 100) == pytest.approx(recall(table))


def test_coefficient_is_the_orthogonal_projection():
    some = drawn()
    square = some.target.square().sum()
    rest = some.weight - (some.weight * some.target).sum() / square * some.target
    mixed = some._replace(weight=0.7 * some.target + rest)
    found = read_memory(mixed, 5)
    assert found.coefficient == pytest.approx(0.7)
    rms = (rest.square().sum() / (rest.numel() - 1)).sqrt()
    assert found.contrast == pytest.approx(float(0.7 * square.sqrt() / rms))
    assert read_memory(some._replace(weight=rest), 5).coefficient == pytest.approx(0, abs=1e-12)


def test_recall_ignores_scale_and_coefficient_does_not():
    some = drawn()
    one, ten = read_memory(some, 3), read_memory(some._replace(weight=10 * some.weight), 3)
    assert (one.recall, one.recall_few) == (ten.recall, ten.recall_few)
    assert ten.coefficient == pytest.approx(10 * one.coefficient)
    assert ten.contrast == pytest.approx(one.contrast)
    assert ten.predicted == pytest.approx(one.predicted)


@pytest.mark.parametrize("coefficient", [0.0, 0.02, 0.06])
def test_predicted_recall_is_that_of_white_noise(coefficient):
    some = drawn(size=12, n=60, m=60)
    stream = torch.Generator().manual_seed(5)
    noise = torch.randn(2000, 60, 60, generator=stream, dtype=torch.float64)
    tables = some.left @ (coefficient * some.target + noise) @ some.right.T
    hits = (tables.argmax(dim=-1) == torch.arange(12)).double().mean(dim=0)
    assert hits.std() < 0.1
    expected = readings.predicted_recall(coefficient, 1.0, some.left, some.right)
    assert expected == pytest.approx(float(hits.mean()), abs=0.02)  # lengths differ a little


def test_predicted_recall_without_noise():
    some = drawn(n=400, m=400)
    assert readings.predicted_recall(0.1, 0.0, some.left, some.right) == pytest.approx(1)
    assert readings.predicted_recall(0.0, 0.0, some.left, some.right) == pytest.approx(1 / 7)


def test_coefficients_of_the_minimal_model_are_pseudo_parameters(random_weights):
    weights = random_weights(torch.Generator().manual_seed(0), 6)
    pseudo = project(weights)[0].stacked()
    found = [read_memory(part, 5).coefficient for part in readings.minimal_head(weights)]
    wanted = [float(pseudo[NAMES.index(name)]) for name in reversed(INDUCTION_HEAD)]
    assert found == pytest.approx(wanted)


def test_tables_of_the_token_transformer_are_blocks_of_its_products():
    model = AttentionOnlyTransformer(
        24, 6, 6, embedding_scale=0.5, generator=torch.Generator().manual_seed(0)
    )
    described = products_of(model)
    found = [part.table.detach().double().numpy() for part in readings.token_head(model)]
    wanted = (
        matrix_blocks(described.output, 6)[0, 4].T,
        matrix_blocks(described.layer2, 6)[0, 2],
        matrix_blocks(described.layer1, 6)[1, 1][1:, :-1],
    )
    for table, block in zip(found, wanted, strict=True):
        assert table == pytest.approx(block, abs=1e-5)


def test_a_planted_memory_has_its_strength():
    some = drawn()
    found = read_memory(some._replace(weight=readings.planted(some, 2.5)), 5)
    assert found.strength == pytest.approx(2.5)
    assert found.contrast > 1e6


def hand_made(sizes=(4, 5, 20), **probes):
    """Curves of one seed, three readings, in which only these probes matter."""
    values = np.zeros((1, 3, 3, len(Reading._fields)))
    for name, part in probes.items():
        values[0, :, :, Reading._fields.index(name)] = np.array(part).T
    return curves.Curves(np.array([0, 10, 20]), values, sizes, np.zeros(1))


def test_arrivals_by_hand():
    some = hand_made(
        recall=[[0.2, 0.9, 1.0], [0.9, 0.3, 0.5], [0.1, 0.3, 0.4]],
        coefficient=[[0, 3, 6], [0, 2.9, 6], [0.5, 1, 1]],
        contrast=[[4, 2, 3], [-5, 4, 9], [0, 1, 2]],
        strength=[[0.6, 0.4, 0.3], [0.1, 0.5, 0.6], [0.6, 0.6, 0.6]],
        recall_few=[[0.2, 0.7, 0.9], [0.7, 0.7, 0.7], [0.4, 0.5, 0.4]],
    )
    times = {
        (probe, moment): curves.arrivals(some, probe, moment, few=5)[:, 0].tolist()
        for probe in ("recall", "coefficient", "recall_few")
        for moment in ("begun", "half")
    }
    assert times["recall", "half"] == [10, 20, np.inf]
    # chance 1/20 plus three standard deviations is 0.196
    assert times["recall", "begun"] == [10, np.inf, 10]
    assert times["coefficient", "half"] == [np.inf, 10, 0]
    assert times["coefficient", "begun"] == [20, 10, np.inf]
    assert times["recall_few", "half"] == [10, 0, np.inf]
    # chance 1/4, 1/5, 1/5: the levels are 0.90, 0.74 and 0.47
    assert times["recall_few", "begun"] == [20, np.inf, np.inf]


def test_agreement_within_parts_does_not_see_their_order():
    times = np.array([[1.0, 5, 3], [20, 22, 29], [300, 100, 200]])
    assert curves.agreement_within(times, times**2) == pytest.approx(1)
    assert curves.agreement_within(times, -times) == pytest.approx(-1)
    # parts in the same order, seeds within each unrelated: Spearman over all would be near 1
    other = np.array([[5.0, 1, 3], [20, 22, 29], [100, 200, 300]])
    within = [-1.0, 1.0, -0.5]
    assert curves.agreement_within(times, other) == pytest.approx(np.mean(within))
    assert curves.agreement_within(times, np.full((3, 3), np.inf)) == 0


def test_translation_counts_all_readings_and_its_bias_the_undecided():
    some = hand_made(recall=[[0, 0.5, 1]] * 3, predicted=[[0, 0.9, 1]] * 3)
    assert curves.translation_error(some) == pytest.approx(0.4 / 3)
    assert curves.translation_bias(some) == pytest.approx(0.4)
    assert curves.translation_bias(hand_made(recall=[[0, 1, 1]] * 3)) == 0
