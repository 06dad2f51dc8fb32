"""Measures of a training against its prediction, on curves where they are known."""

import numpy as np
import pytest

from emergence import analysis

STEPS = np.arange(0, 20, 2)


def ramp(slope, seeds=2):
    """Coordinates that grow with the steps, the first as fast again, and a loss that falls."""
    rising = slope * STEPS[:, None] * np.r_[2.0, np.ones(18)]
    loss = np.maximum(1 - slope * STEPS, 0.0)
    return np.stack([rising] * seeds), np.stack([loss] * seeds)


def test_what_is_predicted_agrees():
    pseudo, loss = ramp(0.1)
    result = analysis.agreement(STEPS, (pseudo, loss), (pseudo[0], loss[0]), 1)
    assert [part.tolist() for part in result] == [[1, 1], [0] * 19, [0, 0], [1, 1]]


def test_differences_are_measured_until_alpha_is_predicted_to_emerge():
    (pseudo, loss), (law, law_loss) = ramp(0.05), ramp(0.1)
    wrong = pseudo.copy()
    wrong[0, STEPS > 4, 3] = 100.0  # alpha_3 is predicted to be 2/5 at step 4
    result = analysis.agreement(STEPS, (wrong, loss), (law[0], law_loss[0]), 1)
    assert result.half_loss.tolist() == [10 / 6] * 2
    assert result.nineteen == pytest.approx([0.5] + [0.25] * 14 + [0.5] * 4)  # half as fast
    assert result.end == pytest.approx([loss[0, -2:].mean()] * 2)
    assert result.head == pytest.approx([0.5, 0.5])
    wrong[1, STEPS == 4, 3] = 0.4 + 0.8
    again = analysis.agreement(STEPS, (wrong, loss), (law[0], law_loss[0]), 1)
    assert again.nineteen[3] == pytest.approx(0.3 / 0.8)  # of the mean over seeds
    sooner = analysis.agreement(STEPS, (wrong, loss), (law[0], law_loss[0]), 2)
    assert sooner.nineteen[3] == pytest.approx(0.25)  # step 4 is late for two dimensions


def test_outputs_are_measured_by_outputs_and_scores_by_scores():
    pseudo, loss = ramp(0.1)
    law = pseudo[0].copy()
    law[:, -1] /= 10  # a small output is apart by its own size
    result = analysis.agreement(STEPS, (pseudo, loss), (law, loss[0]), 1)
    assert result.nineteen[-1] == pytest.approx(0.9)
    assert result.nineteen[:-1].max() == 0
