"""The map over d/km: what is declared, how it is read, and an exact network of few units."""

import numpy as np
import pytest

from chapters.companions.grokking import PRESET, RealTraining, Simulation, model, training, widths
from stored_runs import file_with, stored_text

SMALL = widths.Cell(
    1.0,
    Simulation(modulus=7, hidden=19, embedding_std=7**-0.5),
    RealTraining(decay=0.3, clock=0.2, log_every=0.05),
    (0, 1),
)


def curves(accuracy, norm=(8.0, 6.0, 3.0, 9.0), loss=(10.0, 5.0, 2.0, 1.0)):
    return {"accuracy": np.array([accuracy]), "norm": np.array([norm]), "loss": np.array([loss])}


def test_d_over_km_is_counted_by_the_split():
    """d = 2 p H weights, m pairs of k = p targets, by the data that a network trains on."""
    for cell in widths.RUNS.cells:
        data, layers = training.instance(cell.simulation, 0)
        d, km = layers.flat().numel(), data.train.targets.numel()
        assert d / km == pytest.approx(cell.ratio, rel=0.02)


def test_every_width_of_the_map_is_declared_once():
    plan = PRESET["paper"].settings.widths
    known = [(c.simulation.modulus, c.real.decay, c.ratio) for c in widths.RUNS.cells
             if not c.exchanged]  # fmt: skip
    last = plan.moduli[-1]
    wanted = {(p, decay, x) for p in plan.moduli for decay in plan.decays for x in plan.ratios}
    assert len(known) == len(set(known))
    missing = {(last, 0.3, 5.0), (last, 0.1, 2.0), (last, 0.1, 5.0)}  # the longest trainings
    assert wanted - set(known) == missing
    assert set(known) <= wanted


def test_exchanged_embeddings_have_each_others_norm():
    norms = {(c.simulation.modulus, c.ratio, c.exchanged):
             float(training.instance(c.simulation, 0).layers.embeddings.square().sum())
             for c in widths.RUNS.cells if c.real.decay == 1}  # fmt: skip
    for p in (23, 37):
        for one, other in ((1.0, 5.0), (5.0, 1.0)):
            assert norms[p, one, True] == pytest.approx(norms[p, other, False], rel=0.1)
            assert norms[p, one, True] != pytest.approx(norms[p, one, False], rel=0.5)


def test_norms_and_losses_are_read_where_pairs_are_known_for_good():
    late = curves([0.0, 0.5, 0.97, 1.0])
    assert widths.norm_ratio(late) == pytest.approx([3 / 6])
    assert widths.loss_left(late) == pytest.approx([0.5])
    again = curves([0.5, 0.0, 0.5, 1.0])  # chance knew half of them, once
    assert widths.norm_ratio(again) == pytest.approx([9 / 3])
    assert np.isnan(widths.norm_ratio(curves([0.0, 0.5, 1.0, 0.9])))
    assert np.isnan(widths.loss_left(curves([0.0] * 4)))


def test_the_variance_that_groups_explain():
    values = np.array([[1.0, 1.0], [3.0, 3.0]])
    assert widths.explained(values) == 1
    assert widths.explained(values.T) == 0
    assert widths.explained(np.array([[0.0, 2.0], [4.0, np.nan]])) == pytest.approx(1 - 2 / 8)


@pytest.mark.parametrize("p", [2, 5, 12])
def test_few_units_fit_all_pairs_exactly(p):
    layers, data = widths.fitting(p), model.samples(model.unordered_pairs(p), p)
    assert layers.output.shape == (2 * p - 1, p)
    assert (model.predicted(layers, data) == data.targets).all()


@pytest.mark.usefixtures("unchecked")
def test_a_cell_is_a_training_of_each_seed():
    kept = widths.run(SMALL)
    ((cell, found),) = widths.read(file_with(SMALL, kept)).items()
    assert cell == SMALL
    for row, seed in enumerate(SMALL.seeds):
        trained = training.train(SMALL.simulation, SMALL.real, seed)
        for name in widths.CURVES:
            assert found[name][row] == pytest.approx(getattr(trained, name).numpy(), rel=1e-5)
    assert kept["clock"] == pytest.approx(trained.clock.numpy(), rel=1e-5)


def test_every_declared_cell_is_stored():
    assert set(widths.read(stored_text("grokking_widths"))) == set(widths.RUNS.cells)
