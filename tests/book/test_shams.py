"""A sham that helps turns its row of the ledger."""

import pytest

from bookbuild.reporting.expectations import Measured
from emergence import theory
from tools.this_book import claims


def gain(beta):
    """How much sooner alpha emerges with beta held at this value, at sixteen pairs."""
    landscape = theory.landscape_of(16)
    held = theory.times_in(landscape, rates=theory.Rates(beta=0.0), start=(0.0, beta, 0.0))
    return theory.times_in(landscape).alpha / held.alpha


def verdict(row, value, over):
    return claims()[row].expectation.verdict(Measured(value, over))


def test_the_true_sham_of_the_flow_keeps_its_row():
    assert verdict("sham-flow", {"beta": gain(-1.0)}, "settings") == "reproduced"


def test_a_sham_of_the_flow_that_helps_turns_it():
    planted = {"alpha": 0.6, "beta": gain(1.0)}
    assert verdict("sham-flow", planted, "settings") in ("partly", "contradicted")
    assert verdict("sham-flow", {"beta": gain(1.0)}, "settings") == "contradicted"


@pytest.mark.parametrize("row", ["sham-gaussian", "sham-rotated", "sham-permuted"])
def test_a_trained_sham_that_helps_as_the_step_does_turns_its_row(row):
    assert verdict(row, [1.0] * 5, "seeds") == "reproduced"
    assert verdict(row, [1.6] * 5, "seeds") == "contradicted"  # the least gain of a given step
