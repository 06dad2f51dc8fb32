"""The effects of the experiment on supervision, and what was predicted of them."""

import math
from dataclasses import replace
from typing import Any

import pytest

from chapters.practice.effects import (
    CHANGES,
    Effect,
    Predicted,
    Trainings,
    holds,
    judged,
    predictions,
)
from chapters.practice.model import Shape
from chapters.practice.queries import Cell
from chapters.practice.stored import RUNS
from tools.this_book import ROOT

PREDICTIONS = ROOT / "data" / "practice_predictions.yml"
DECLARED = {replace(cell, limit=0, seeds=()) for cell in RUNS.cells}
FULL, EVERY = Cell("full", 8), Cell("every", 8)


def row(seed: int, full: float | None, prefixes: float | None = 9.0, **more: Any) -> dict[str, Any]:
    found = {"full": [full and full / 2, full], "prefixes": [None, prefixes], "losses": [0.4, 0.3]}
    return {"seed": seed, **found, "updates": 1000} | more


def test_a_factor_is_the_mean_over_seeds_of_the_ratio_of_steps() -> None:
    stored = Trainings({
        FULL: [row(0, 200.0), row(1, 800.0), row(2, 50.0)],
        EVERY: [row(1, 200.0), row(0, 100.0)],
    })  # fmt: skip
    effect = stored.effect("prefixes", FULL)
    assert effect is not None
    assert effect.factor == pytest.approx(math.sqrt(8))
    # Student's t with one degree of freedom, times half the distance of the logarithms
    half = 12.7062 * math.log(2) / 2
    assert math.log(effect.high / effect.factor) == pytest.approx(half, rel=1e-4)
    assert math.log(effect.factor / effect.low) == pytest.approx(half, rel=1e-4)
    by_prefixes = stored.effect("prefixes", FULL, "prefixes")
    assert by_prefixes is not None
    assert by_prefixes.factor == pytest.approx(1)
    assert stored.effect("weights 1/n", EVERY) is None


def test_a_run_without_a_head_gives_a_bound_and_one_that_diverges_is_left_out() -> None:
    diverged = row(1, None, None, losses=None)
    several = [row(seed, 100.0) for seed in range(3)]
    stored = Trainings({FULL: [row(0, None), diverged, row(2, 500.0)], EVERY: several})
    effect = stored.effect("prefixes", FULL)
    assert effect is not None
    assert effect.factor == pytest.approx(math.sqrt(50))
    assert effect.bound == "at least"
    other = Trainings({FULL: several, EVERY: [row(0, None), row(1, None)]}).effect("prefixes", FULL)
    assert other is not None
    assert other.bound == "at most"
    wide = Predicted("prefixes", FULL, 5.0, 20.0, "full")
    assert holds(wide, effect) is None
    assert holds(wide._replace(high=7.0), effect) is False
    assert holds(wide, other) is False
    assert holds(wide, Effect("prefixes", FULL, 6.0, 5.0, 7.0, "")) is True


def test_exponents_begin_at_eight_pairs() -> None:
    stored = {
        Cell("one", n, contexts=32 * n): [row(s, n**1.5 * (1 + 0.01 * s)) for s in range(3)]
        for n in (8, 16, 32)
    }
    off = {Cell("one", 4, contexts=128): [row(0, 1e6)], Cell("one", 8): [row(0, 1e6)]}
    like = Cell("one", 8, contexts=256)
    assert Trainings(stored | off).exponent(like).slope == pytest.approx(1.5)
    stored[Cell("one", 32, contexts=1024)] = [row(0, None)]
    with pytest.raises(ValueError, match="not all runs with 32 pairs"):
        Trainings(stored).exponent(like)


def test_every_prediction_is_of_declared_cells_and_every_change_is_predicted() -> None:
    told = predictions(PREDICTIONS)
    for each in told["factors"]:
        assert {each.cell, replace(each.cell, **CHANGES[each.effect][1])} <= DECLARED, each
        assert 0 < each.low < each.high
    for each in told["exponents"]:
        for n in (8, 16, 32):
            contexts = 32 * n if each.cell.contexts != 32 else 32
            assert replace(each.cell, n_pairs=n, contexts=contexts) in DECLARED
    assert {each.effect for each in told["factors"]} == {*CHANGES}


def test_predictions_are_judged_as_far_as_runs_are_stored() -> None:
    deep = Shape(4, blocks=True)
    stored = Trainings({
        replace(cell, n_pairs=16, shape=shape): [row(0, at), row(1, at)]
        for cell, at in {FULL: 150.0, EVERY: 100.0}.items() for shape in (Shape(), deep)
    })  # fmt: skip
    told = predictions(PREDICTIONS)["factors"]
    found = {(p.effect, p.cell): (e, ok) for p, e, ok in judged(told, stored)}
    plain, other = (Cell("full", 16, limit=0, seeds=(), shape=s) for s in (Shape(), deep))
    assert found["prefixes", plain][1] is False
    assert found["prefixes", other][1] is True
    assert sum(effect is not None for effect, _ in found.values()) == 2
