"""Training with chosen queries against flows, and the curriculum's batches."""

import numpy as np
import pytest
import torch

from chapters.beyond.area_law.training import (
    AskedRecord,
    AskedTraining,
    Curriculum,
    train_asked,
    train_curriculum,
)
from emergence import theory
from emergence.theory import area, cross_entropy

CPU = torch.device("cpu")


def trained(landscape, step, **changes):
    """The path of training and that of population descent in the same steps."""
    rates = changes.pop("rates", (step,) * 3)
    settings = AskedTraining(dim=8, batch_size=4, steps=20, rates=rates, **changes)
    found = train_asked(settings, [0], device=CPU).head[0].numpy()
    path = theory.descent_in(landscape, 20, rates=rates)
    return found, np.stack([path.alpha, path.beta, path.gamma], axis=1)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 1, 0, 1), (0, 0, 1, 1)])
def test_queries_for_one_pair_descend_the_population_loss(order):
    count = max(order) + 1
    chances = tuple(float(q == count - 1) for q in range(count))
    landscape = area.asked(np.array(order), np.array(chances))
    found, expected = trained(landscape, 0.7, order=order, chances=chances)
    assert expected[-1, 1:].min() > 0.01
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_cross_entropy_descends_its_own_landscape():
    found, expected = trained(
        cross_entropy.landscape(4, 12), 5.0, order=(0, 1, 2, 3), chances=(0.0, 0.0, 0.0, 1.0),
        vocabulary=12,
    )  # fmt: skip
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_the_batch_has_the_chances():
    """Many queries: the first step of gamma is that of the population, pair by pair weighed."""
    chances = (0.1, 0.2, 0.3, 0.4)
    settings = AskedTraining((0, 1, 2, 3), chances, 8, 20_000, 3, (2.0, 2.0, 2.0))
    head = train_asked(settings, [0], device=CPU).head[0].numpy()
    path = theory.descent_in(area.asked(np.arange(4), np.array(chances)), 3, rates=(2.0, 2.0, 2.0))
    assert head[-1, 1] == pytest.approx(path.beta[-1], rel=0.05)
    wrong = theory.descent_in(
        area.asked(np.arange(4), np.array(chances[::-1])), 3, rates=(2.0, 2.0, 2.0)
    )
    assert abs(head[-1, 1] / wrong.beta[-1] - 1) > 0.2


def test_gaussian_scores_are_dim_times_weights():
    """Wide inputs hardly overlap: the first steps follow the rates of Gaussian data."""
    rates = tuple(theory.gaussian_rates(256.0, 1.0))
    settings = AskedTraining((0, 1), (0.0, 1.0), 256, 256, 6, rates, "gaussian")
    head = train_asked(settings, [0], device=CPU).head[0].numpy()
    path = theory.descent_in(theory.landscape_of(2), 6, rates=rates)
    assert head[-1, 2] == pytest.approx(path.gamma[-1], rel=0.1)
    assert head[-1, 1] == pytest.approx(path.beta[-1], rel=0.1)


def test_areas_are_sums_up_to_the_crossing():
    head = torch.tensor([[[0.0, 0.0, 0.0], [0.0, 0.4, 1.0], [0.2, 0.8, 1.0], [0.4, 0.9, 1.0]]])
    (row,) = AskedRecord(head).areas()
    assert row[0] == np.inf
    assert row[1] == pytest.approx(0.25)  # none in the first step, a quarter of the second


def test_settings_are_checked():
    with pytest.raises(ValueError, match="one chance"):
        AskedTraining((0, 1), (1.0,), 8, 4, 1, (1.0, 1.0, 1.0))
    with pytest.raises(ValueError, match="as many words"):
        AskedTraining((0, 1), (0.5, 0.5), 8, 4, 1, (1.0, 1.0, 1.0), vocabulary=1)


def test_the_first_pair_is_asked_for_ahead():
    """With it the loss of any pair starts later, and lower than without."""
    plain = train_curriculum(Curriculum(4, 16, 128, ahead=0, steps=20), [0, 1], device=CPU)
    ahead = train_curriculum(Curriculum(4, 16, 128, ahead=12, steps=20), [0, 1], device=CPU)
    assert np.isfinite(plain).all()
    assert np.isnan(ahead[:, :12]).all()
    assert (ahead[:, 16:].mean(axis=1) < 0.9 * plain[:, 16:].mean(axis=1)).all()
