"""The effects of the experiment on supervision, and what was predicted of them."""

import json
import math
from dataclasses import replace

import pytest

from chapters.practice.effects import CHANGES, bare, effect_of, exponent, judged, predictions, rows
from chapters.practice.stored import RUNS
from chapters.practice.training import Cell
from tools.this_book import ROOT

FULL, EVERY = bare(Cell("full", 8)), bare(Cell("every", 8))
PREFIXES = next(row for row in rows() if (row.change, row.setting) == ("prefixes", ""))


def seeds(*steps, **more):
    """What is stored of seeds 0, 1, …; None for a run without a head."""
    full = [{"full": [None, at], "prefixes": [None, 9.0], "losses": [0.4, 0.3]} for at in steps]
    return [{"seed": seed, "updates": 1000} | row | more for seed, row in enumerate(full)]


def of_prefixes(before, after, test="full"):
    return effect_of({FULL: before, EVERY: after}, "prefixes", FULL, test)


def test_a_factor_is_the_mean_over_seeds_of_the_ratio_of_steps():
    several = seeds(200.0, 800.0, 50.0), seeds(100.0, 200.0)[::-1]
    # Student's t with one degree of freedom, times half the distance of the logarithms
    half = math.exp(12.7062 * math.log(2) / 2)
    root = math.sqrt(8)
    assert of_prefixes(*several)[:3] == pytest.approx((root, root / half, root * half), rel=1e-4)
    assert of_prefixes(*several, test="prefixes").factor == pytest.approx(1)
    assert of_prefixes(several[0], []) is None


def test_a_run_without_a_head_gives_a_bound_and_one_that_diverges_is_left_out():
    alike = seeds(100.0, 100.0, 100.0)
    slow = [seeds(None)[0], seeds(0, None, losses=None)[1], seeds(0, 0, 500.0)[2]]
    effect, other = of_prefixes(slow, alike), of_prefixes(alike, seeds(None, None))
    assert (effect.factor, effect.bound) == (pytest.approx(math.sqrt(50)), "at least")
    assert other.bound == "at most"


@pytest.mark.parametrize(
    ("steps", "range_", "right"),
    [
        ((600.0, 600.0), (5, 20), [True]),
        ((600.0, 600.0), (7, 20), [False]),
        ((None, 500.0), (5, 20), []),  # at least 7.1, which may be 30
        ((None, 500.0), (5, 7), [False]),
    ],
)
def test_a_prediction_is_right_if_the_factor_is_in_its_range(tmp_path, steps, range_, right):
    path = tmp_path / "predictions.yml"
    low, high = range_
    row = {"effect": "prefixes", "setting": {"n_pairs": 8}, "low": low, "high": high}
    path.write_text(json.dumps({"factors": [row]}))
    stored = {FULL: seeds(*steps), EVERY: seeds(100.0, 100.0)}
    assert [each for *_, each in judged(stored, path)] == right


def test_exponents_begin_at_eight_pairs():
    some = {
        bare(Cell("one", n, contexts=32 * n)): seeds(*(n**1.5 * (1 + 0.01 * s) for s in range(3)))
        for n in (8, 16, 32)
    }
    off = {bare(Cell("one", 4, contexts=128)): seeds(1e6), bare(Cell("one", 8)): seeds(1e6)}
    like = Cell("one", 8, contexts=256)
    assert exponent(some | off, like).slope == pytest.approx(1.5)
    some[bare(Cell("one", 32, contexts=1024))] = seeds(None, 1e6)  # a size without heads
    assert exponent(some, like).slope == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("factors", "spread", "claim", "since"),
    [
        ({8: 1.5, 16: 1.5, 32: 1.5}, 1.01, "fewer", 8),
        ({4: 0.7, 8: 1.0, 16: 1.5, 32: 1.5, 64: 1.5}, 1.01, "fewer", 16),  # short ones may differ
        ({8: 1.5, 16: 1.5, 32: 1.5, 64: 0.9}, 1.01, "fewer", None),  # a larger size may not
        ({8: 1.5, 16: 1.5, 32: 1.5}, 1.5, "fewer", None),  # the intervals reach below one
        ({8: 0.5, 16: 0.5, 32: 0.5}, 1.01, "fewer", None),
        ({8: 0.5, 16: 0.5, 32: 0.5}, 1.01, "more", 8),
        ({8: 0.5, 16: 0.5, 32: 0.5}, 1.01, "as many", None),
        ({8: 0.5, 16: 0.5, 32: 0.5}, 1.01, "no fewer", 8),
        ({8: 1.0, 16: 1.0, 32: 1.0}, 1.01, "more", None),
        ({8: 1.0, 16: 1.0, 32: 1.0}, 1.01, "as many", 8),
        ({8: 1.0, 16: 1.0, 32: 1.0}, 1.01, "no fewer", 8),
    ],
)
def test_a_sentence_holds_from_a_size_on_at_which_it_holds_and_never_fails_again(
    factors, spread, claim, since
):
    stored = {bare(Cell("every", n)): seeds(100.0, 100.0, 100.0) for n in factors} | {
        bare(Cell("full", n)): seeds(*(100 * factor * spread**power for power in (-1, 0, 1)))
        for n, factor in factors.items()
    }
    row = PREFIXES._replace(claim=claim)
    effects = row.effects(stored)
    assert row.held(effects) == [n for n in factors if since and n >= since]
    assert f"needs {claim} steps" in row.sentence(effects)
    assert ("from 16 pairs on" in row.sentence(effects)) == (since == 16)


def test_what_was_predicted_is_declared_and_every_change_is_predicted():
    declared, path = {bare(cell) for cell in RUNS.cells}, ROOT / "data/practice_predictions.yml"
    factors = predictions("factors", path)
    for cell, row in factors:
        assert {cell, replace(cell, **CHANGES[row["effect"]][1])} <= declared, row
        assert 0 < row["low"] < row["high"]
    assert {row["effect"] for _, row in factors} == {*CHANGES}
    assert {cell for cell, _ in predictions("exponents", path)} <= declared
