"""The steps of a walk."""

from walks.steps import mean_squared_distance


def test_one_step_leads_one_step_away():
    assert mean_squared_distance(1, 100, seed=0) == 1
