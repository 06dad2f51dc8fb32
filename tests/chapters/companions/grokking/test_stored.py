"""Stages of grokking, and the long runs that are stored."""

import numpy as np
import pytest

from chapters.companions.grokking import training

STEPS = np.array([10, 20, 40, 80, 160])


def test_the_stage_goes_from_the_last_chance_to_the_first_knowledge():
    accuracy = np.array([0.0, 0.3, 0.1, 0.5, 0.9, 0.2, 1.0])
    assert training.grokking_stage(accuracy) == (2, 4)
    assert training.grokking_stage(np.array([0.5, 0.9])) == (0, 1)
    never = training.grokking_stage(accuracy[:4])
    assert not never.happens


def test_means_during_a_stage_are_weighted_by_time():
    values = np.array([9.0, 1.0, 2.0, 4.0, 9.0])
    weights = [15, 30, 60]  # half the time between the neighbours
    expected = np.average(values[1:4], weights=weights)
    assert training.during(values, STEPS, training.LearningStage(1, 3)) == pytest.approx(expected)
    assert np.isnan(training.during(values, STEPS, training.LearningStage(-1, -1)))


def test_a_maximum_outside_the_stage_is_seen():
    values = np.array([0.1, 0.9, 0.5, 0.6, 0.2])
    assert training.shortfall(values, training.LearningStage(2, 4)) == pytest.approx(0.3)
    assert training.shortfall(values, training.LearningStage(1, 4)) == 0
