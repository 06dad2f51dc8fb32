"""What *If you train models* says of the experiment, beside its stored trainings."""

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from chapters.practice import advice
from chapters.practice.advice import ROWS, Row, measured, sentence, verdict
from chapters.practice.effects import CHANGES, Trainings
from chapters.practice.queries import Cell
from tools.this_book import ROOT

STORED = ROOT / "data" / "practice.json"
PREFIXES = Row("prefixes", "", "fewer")


@pytest.fixture(scope="module")
def stored() -> Trainings:
    """The stored trainings, as far as they have been run."""
    return Trainings.read(STORED)


def made_up(factors: dict[int, float], spread: float = 1.01) -> Trainings:
    """Trainings in which prefixes save such factors, in three seeds that differ by a spread."""
    rows: dict[Cell, Any] = {}
    for n, factor in factors.items():
        for cell, steps in ((Cell("full", n), 100 * factor), (Cell("every", n), 100.0)):
            noise = spread if cell.kind == "full" else 1.0
            rows[cell] = [
                {"seed": seed, "full": [None, steps * noise**seed], "losses": [0.4, 0.4]}
                for seed in (-1, 0, 1)
            ]
    return Trainings(rows)


@pytest.mark.parametrize(
    ("factors", "spread", "expected"),
    [
        ({8: 1.5, 16: 1.5, 32: 1.5}, 1.01, "stands"),
        ({4: 0.7, 8: 1.0, 16: 1.5, 32: 1.5, 64: 1.5}, 1.01, "stands"),  # short contexts may differ
        ({8: 1.5, 16: 1.5, 32: 1.5, 64: 0.9}, 1.01, "fails"),  # a larger size may not
        ({4: 0.7, 8: 1.0, 16: 1.5, 32: 1.5}, 1.01, "too few sizes"),
        ({16: 1.5, 32: 1.5}, 1.01, "too few sizes"),
        ({8: 1.5, 16: 1.5, 32: 1.5}, 1.5, "fails"),  # the intervals reach below one
    ],
)
def test_a_sentence_stands_where_it_holds_at_three_sizes(factors, spread, expected) -> None:
    assert verdict(PREFIXES, measured(PREFIXES, made_up(factors, spread))) == expected


def test_the_opposite_and_no_effect_are_claims_too() -> None:
    slower, alike = made_up(dict.fromkeys((8, 16, 32), 0.5)), made_up(dict.fromkeys((8, 16, 32), 1))
    more, many = PREFIXES._replace(claim="more"), PREFIXES._replace(claim="as many")
    found = [
        [verdict(row, measured(row, of)) for row in (PREFIXES, more, many)]
        for of in (slower, alike)
    ]
    assert found == [["fails", "stands", "fails"], ["fails", "fails", "stands"]]
    assert "more steps than with $N$ queries" in sentence(more, measured(more, slower))
    assert ", 2.00 (" in sentence(more, measured(more, slower))


def test_each_sentence_is_that_of_the_stored_steps(stored) -> None:
    """Factors and sizes of each sentence, from the file itself."""
    raw = {
        json.dumps(entry["configuration"] | {"seeds": 0, "limit": 0}, sort_keys=True): {
            row["seed"]: row["full"][1] or row["updates"] for row in entry["result"]
        }
        for entry in json.loads(STORED.read_text(encoding="utf-8"))
    }
    standing = advice.sentences(stored)["stands"]
    # what the page tells its readers to do
    assert all(
        verdict(row, measured(row, stored)) == "stands"
        for row in ROWS
        if row.change == "N queries"
        or (row.change in ("free place", "weights 1/n") and row.setting == "")
    )
    rows = [row for row in ROWS if verdict(row, measured(row, stored)) == "stands"]
    for row, text in zip(rows, standing, strict=True):
        assert advice.WORDS[row.change][1] in text  # its control
        told = re.findall(r"([\d.]+) \(([\d.]+) to ([\d.]+)\)", text)
        sizes = list(map(int, text.rpartition("N=")[2].strip("$.").split(", ")))
        assert len(told) == len(sizes) >= 3
        for n, (factor, low, high) in zip(sizes, told, strict=True):
            before, after = CHANGES[row.change]
            kind: Any = "every" if row.change == "free place" else "full"
            control = replace(Cell(kind, n, **advice.SETTINGS[row.setting](n)), **before)
            slow, fast = (raw[key_of(cell)] for cell in (control, replace(control, **after)))
            ratios = [slow[seed] / fast[seed] for seed in slow.keys() & fast.keys()]
            mean = float(np.exp(np.log(ratios).mean()))
            expected = mean if row.claim == "fewer" else 1 / mean
            assert float(factor) == pytest.approx(expected, abs=0.006)
            assert float(low) <= float(factor) <= float(high)
            assert float(low) >= (1 if row.claim in ("fewer", "more") else 0.8)


@pytest.mark.parametrize("n", [4, 8, 16, 32])
def test_the_place_has_the_effect_that_its_reason_predicts(stored, n) -> None:
    """1/ln 2, by rare questions alone; nothing on full contexts, or with the attention given."""

    def factor(change: str, kind: Any, **more: Any) -> float | None:
        effect = stored.effect(change, Cell(kind, n, **more))
        return effect and effect.factor

    bounds = {
        (1 / np.log(2), np.inf): [factor("free place", "every")],
        (1.1, np.inf): [factor("both parities", "every")],
        (0.75, 1.25): [
            factor("free place", "full"),
            factor("both parities", "full"),
            factor("free place", "every", given=True),
        ],
        (0, 1.1): [factor("prefixes at one place", "full"),
                   factor("prefixes without their last pair", "full")],
    }  # fmt: skip
    for (low, high), factors in bounds.items():
        assert all(low < each < high for each in factors if each is not None)


def test_with_sixteen_pairs_the_order_turns_with_the_place(stored) -> None:
    found = [stored.effect("prefixes", Cell("full", 16, place)) for place in ("tied", "free")]
    if None not in found:
        assert found[0].high < 1 < found[1].low


def key_of(cell: Cell) -> str:
    """A cell as the file writes it."""
    shape = {"": "Shape", **vars(cell.shape)}
    plain = {"": "Cell", **vars(cell), "shape": shape, "seeds": 0, "limit": 0}
    return json.dumps(plain, sort_keys=True)
