"""The effects of the experiment on supervision, and what was predicted of them."""

import math
from dataclasses import replace
from typing import Any

import pytest

from chapters.practice.effects import CHANGES, Effect, Predicted, Trainings, bare, predictions
from chapters.practice.queries import Cell
from chapters.practice.stored import RUNS
from tools.this_book import ROOT

FULL, EVERY = Cell("full", 8), Cell("every", 8)


def row(seed: int, full: float | None, prefixes: float | None = 9.0, **more: Any) -> dict[str, Any]:
    found = {"full": [full and full / 2, full], "prefixes": [None, prefixes], "losses": [0.4, 0.3]}
    return {"seed": seed, **found, "updates": 1000} | more


def effect_of(before: list[Any], after: list[Any], test: str = "full") -> Any:
    return Trainings({FULL: before, EVERY: after}).effect("prefixes", FULL, test)


def test_a_factor_is_the_mean_over_seeds_of_the_ratio_of_steps() -> None:
    several = [row(0, 200.0), row(1, 800.0), row(2, 50.0)], [row(1, 200.0), row(0, 100.0)]
    effect = effect_of(*several)
    # Student's t with one degree of freedom, times half the distance of the logarithms
    half = 12.7062 * math.log(2) / 2
    expected = math.sqrt(8) * math.exp(-half), math.sqrt(8) * math.exp(half)
    assert effect[:3] == pytest.approx((math.sqrt(8), *expected), rel=1e-4)
    assert effect_of(*several, test="prefixes").factor == pytest.approx(1)
    assert effect_of(several[0], []) is None


def test_a_run_without_a_head_gives_a_bound_and_one_that_diverges_is_left_out() -> None:
    diverged = row(1, None, None, losses=None)
    several = [row(seed, 100.0) for seed in range(3)]
    effect = effect_of([row(0, None), diverged, row(2, 500.0)], several)
    assert (effect.factor, effect.bound) == (pytest.approx(math.sqrt(50)), "at least")
    other = effect_of(several, [row(0, None), row(1, None)])
    assert other.bound == "at most"
    wide = Predicted("prefixes", FULL, 5.0, 20.0, "full")
    assert wide.holds(effect) is None
    assert wide._replace(high=7.0).holds(effect) is False
    assert wide.holds(other) is False
    assert wide.holds(Effect(6.0, 5.0, 7.0, "")) is True


def test_exponents_begin_at_eight_pairs() -> None:
    stored = {
        Cell("one", n, contexts=32 * n): [row(s, n**1.5 * (1 + 0.01 * s)) for s in range(3)]
        for n in (8, 16, 32)
    }
    off = {Cell("one", 4, contexts=128): [row(0, 1e6)], Cell("one", 8): [row(0, 1e6)]}
    like = Cell("one", 8, contexts=256)
    assert Trainings(stored | off).exponent(like).slope == pytest.approx(1.5)
    stored[Cell("one", 32, contexts=1024)] = [row(0, None), row(1, 1e6)]  # a size without heads
    assert Trainings(stored).exponent(like).slope == pytest.approx(1.5)


def test_what_was_predicted_is_declared_and_every_change_is_predicted() -> None:
    declared, path = {bare(cell) for cell in RUNS.cells}, ROOT / "data/practice_predictions.yml"
    factors = predictions("factors", path)
    for each in factors:
        assert {each.cell, replace(each.cell, **CHANGES[each.effect][1])} <= declared, each
        assert 0 < each.low < each.high
    assert {each.effect for each in factors} == {*CHANGES}
    assert {each.cell for each in predictions("exponents", path)} <= declared
