"""Laws read off made-up recalls, and the source's map."""

import numpy as np
import pytest

from chapters.companions.factual_recall import capacity, published


def made_up(noise, power=1.0, ratio=3.5):
    rng = np.random.default_rng(1)
    facts = np.repeat([256.0, 1024.0], 20)
    share = facts ** (1 / power) / 1024 ** (1 / power)
    attention, mlp = share * rng.uniform(5000, 15000, 40), share * rng.uniform(50, 2500, 40)
    worth = np.log(attention + ratio * mlp) - np.log(facts) / power
    return attention, mlp, facts, 0.5 * worth - 0.4 + noise * rng.normal(size=40)


@pytest.mark.parametrize("ratio", [0.7, 3.5])
def test_an_exchange_is_recovered(ratio):
    attention, mlp, _, recall = (part[20:] for part in made_up(0.0, ratio=ratio))
    found = capacity.exchange(attention, mlp, recall)
    assert found.ratio == pytest.approx((ratio, ratio, ratio), rel=1e-3)
    worth = np.exp((recall[3] - found.base) / found.slope)
    assert worth == pytest.approx(attention[3] + ratio * mlp[3], rel=1e-3)
    assert found.mlp_at(float(attention[3]), float(recall[3])) == pytest.approx(mlp[3], rel=1e-2)


@pytest.mark.parametrize("power", [0.8, 1.0])
def test_a_power_is_recovered(power):
    assert capacity.power(*made_up(0.0, power)) == pytest.approx((power,) * 3, rel=1e-3)


def test_intervals_hold_the_truth_of_noisy_recalls():
    noisy = made_up(0.03)
    found = capacity.power(*noisy)
    assert 0.85 < found.low < 1 < found.high < 1.15
    ratio = capacity.exchange(*(noisy[i][20:] for i in (0, 1, 3))).ratio
    assert ratio.low < 3.5 < ratio.high < 3 * ratio.low


def test_too_few_models_are_refused():
    few = [part[:3] for part in made_up(0.0)]
    for fit, given in ((capacity.power, few), (capacity.exchange, [few[0], few[1], few[3]])):
        with pytest.raises(ValueError, match="3 models leave nothing"):
            fit(*given)


def test_the_published_map_has_a_recall_for_each_cell():
    found = published.cells()
    assert len(found.heads) == len(found.widths) == len(found.recall) == 169
    at = dict(zip(zip(found.heads, found.widths, strict=True), found.recall, strict=True))
    assert at[8, 32] == 0.87
    assert at[20, 1] == 1.0
    above = 32 * found.widths + 128 * found.heads >= published.LINE
    inside = above & (256 * found.heads >= published.FEWEST)
    assert found.recall[inside].min() > 0.93
    assert (found.recall[~inside] >= 0.99).mean() < 0.1
