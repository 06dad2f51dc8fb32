"""The effects of the experiment on supervision, and what was predicted of them."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from chapters.practice import effects
from chapters.practice.effects import CHANGES, Trainings, judged, predictions
from chapters.practice.model import Shape
from chapters.practice.queries import Cell
from chapters.practice.stored import RUNS, at_equal_tokens
from tools.this_book import ROOT

PREDICTIONS = ROOT / "data" / "practice_predictions.json"
DECLARED = {replace(cell, limit=0, seeds=()) for cell in RUNS.cells}


def row(seed: int, full: float | None, prefixes: float | None = 9.0, **more: Any) -> dict[str, Any]:
    found = {"full": [full and full / 2, full], "prefixes": [None, prefixes], "losses": [0.4, 0.3]}
    return {"seed": seed, **found, "updates": 1000} | more


def test_a_factor_is_the_mean_over_seeds_of_the_ratio_of_steps() -> None:
    full, every = Cell("full", 8), Cell("every", 8)
    stored = Trainings({
        full: [row(0, 200.0), row(1, 800.0), row(2, 50.0)],
        every: [row(1, 200.0), row(0, 100.0)],
    })  # fmt: skip
    (effect,) = stored.effects(["prefixes"])
    assert effect.factor == pytest.approx(math.sqrt(8))
    # Student's t with one degree of freedom, times half the distance of the logarithms
    half = 12.7062 * math.log(2) / 2
    assert math.log(effect.high / effect.factor) == pytest.approx(half, rel=1e-4)
    assert math.log(effect.factor / effect.low) == pytest.approx(half, rel=1e-4)
    assert (effect.bound, effect.diverged) == ("", 0)
    (appears,) = stored.effects(["prefixes"], share=0.9)
    assert appears.factor == pytest.approx(effect.factor)
    assert stored.effects(["prefixes"], test="prefixes")[0].factor == pytest.approx(1)
    assert stored.effects(["prefixes"], test="prefixes", share=0.9) == []


def test_a_run_without_a_head_gives_a_bound_and_one_that_diverges_is_left_out() -> None:
    full, every = Cell("full", 8), Cell("every", 8)
    diverged = row(1, None, None, losses=None)
    stored = Trainings({full: [row(0, None), diverged], every: [row(0, 100.0), row(1, 50.0)]})
    (effect,) = stored.effects(["prefixes"])
    assert effect.factor == pytest.approx(10)
    assert (effect.bound, effect.diverged, effect.high) == ("at least", 1, math.inf)
    other = Trainings({full: [row(0, 100.0)], every: [row(0, None)]})
    assert other.effects(["prefixes"])[0].bound == "at most"
    wide = effects.Predicted("prefixes", full, 5.0, 20.0, "full")
    assert effects.holds(wide, effect) is None
    assert effects.holds(wide._replace(high=8.0), effect) is False


def test_each_side_may_have_the_rate_at_which_it_is_fastest() -> None:
    full, every = Cell("full", 8), Cell("every", 8)
    fast = {"learning_rate": 1e-2}
    stored = Trainings({
        replace(full, **fast): [row(0, None), row(1, 20.0)],
        full: [row(0, 300.0), row(1, 300.0)],
        every: [row(0, 200.0), row(1, 200.0)],
        replace(every, **fast): [row(0, 100.0), row(1, 100.0)],
    })  # fmt: skip
    (effect,) = stored.effects(["prefixes"], best=True)
    assert effect.factor == pytest.approx(3)
    assert (effect.control.learning_rate, effect.bound) == (3e-3, "")


def test_budgets_are_told_and_prices_counted() -> None:
    contexts = at_equal_tokens(8)
    cells = [Cell("one", 8, contexts=c) for c in (32, contexts, 256)]
    stored = Trainings({cell: [row(0, 400.0), row(1, 400.0)] for cell in cells})
    stored.rows[Cell("full", 8, limit=0, seeds=())] = [row(0, 100.0), row(1, 100.0)]
    found = {e.budget: e for e in stored.effects(["N queries"])}
    assert {name: e.factor for name, e in found.items()} == pytest.approx(
        {"steps": 4, "tokens": 4, "queries": 4}
    )
    prices = {e.budget: e.factor for e in stored.effects(["N queries"], unit="tokens")}
    assert prices["tokens"] == pytest.approx(4, rel=0.01)
    assert prices["steps"] == pytest.approx(4 * 17 / 24)
    assert {e.budget: e.factor for e in stored.effects(["N queries"], unit="queries")}[
        "queries"
    ] == pytest.approx(4)


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
        grows = each.cell.contexts != 32
        sizes = [
            cell.n_pairs for cell in DECLARED
            if cell == replace(each.cell, n_pairs=cell.n_pairs,
                               contexts=32 * cell.n_pairs if grows else 32)
        ]  # fmt: skip
        assert {8, 16, 32} <= {*sizes}
    assert {each.effect for each in told["factors"]} == {*CHANGES}


def test_predictions_are_judged_as_far_as_runs_are_stored() -> None:
    told = predictions(PREDICTIONS)["factors"]
    deep = Shape(4, blocks=True)
    steps = {"full": 150.0, "every": 100.0}
    stored = Trainings({
        Cell(kind, 16, shape=shape): [row(0, at), row(1, at)]
        for kind, at in steps.items() for shape in (Shape(), deep)
    })  # fmt: skip
    found = {(p.effect, p.cell): (e, ok) for p, e, ok in judged(told, stored)}
    plain, other = (Cell("full", 16, limit=0, seeds=(), shape=s) for s in (Shape(), deep))
    assert found["prefixes", plain][1] is False
    assert found["prefixes", other][1] is True
    assert sum(effect is not None for effect, _ in found.values()) == 2


def test_the_predictions_say_what_they_rest_on() -> None:
    told = json.loads(PREDICTIONS.read_text(encoding="utf-8"))
    assert {"what", "known_before", "reason"} < {*told}
