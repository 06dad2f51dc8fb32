"""What *If you train models* says of the experiment, beside its stored trainings."""

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from chapters.practice.effects import CHANGES, KINDS, PLACES, Trainings, bare, rows
from chapters.practice.queries import Cell
from chapters.practice.stored import STRICT
from tools.this_book import ROOT

STORED = ROOT / "data" / "practice.json"
PREFIXES = next(row for row in rows() if (row.change, row.setting) == ("prefixes", ""))
# of the advice of the page, by change and setting
ADVISED = [("N queries", each) for each in ("", "at equal tokens", "at equal queries")]
ADVISED += [("prefixes", ""), ("weights 1/n", ""), ("free place", ""), ("repeats anywhere", "")]


@pytest.fixture(scope="module")
def stored() -> Trainings:
    """The stored trainings, as far as they have been run."""
    return Trainings.read(STORED)


def made_up(factors: dict[int, float], spread: float = 1.01) -> dict[int, Any]:
    """Effects of prefixes that save such factors, in three seeds that differ by a spread."""
    cells: dict[Cell, Any] = {}
    for n, factor in factors.items():
        for kind, steps in (("full", 100 * factor), ("every", 100.0)):
            noise = spread if kind == "full" else 1.0
            cells[Cell(kind, n)] = [  # type: ignore[arg-type]
                {"seed": seed, "full": [None, steps * noise**seed], "losses": [0.4, 0.4]}
                for seed in (-1, 0, 1)
            ]
    return PREFIXES.effects(Trainings(cells))


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
    assert PREFIXES.verdict(made_up(factors, spread)) == expected


def test_the_opposite_and_no_effect_are_claims_too() -> None:
    slower, alike = (made_up(dict.fromkeys((8, 16, 32), factor)) for factor in (0.5, 1))
    claims = [PREFIXES._replace(claim=claim) for claim in ("fewer", "more", "as many", "no fewer")]
    found = [[row.verdict(effects) == "stands" for row in claims] for effects in (slower, alike)]
    assert found == [[False, True, False, True], [False, False, True, True]]
    assert "needs more steps than with $N$ queries" in claims[1].sentence(slower)


def test_each_sentence_is_that_of_the_stored_steps(stored) -> None:
    """Factors and sizes of each sentence that stands, and its control, from the file itself."""
    raw = {
        json.dumps(entry["configuration"] | {"seeds": [], "limit": 0}, sort_keys=True): {
            row["seed"]: row["full"][1] or row["updates"] for row in entry["result"]
        }
        for entry in json.loads(STORED.read_text(encoding="utf-8"))
    }

    def steps(cell: Cell) -> dict[int, float]:
        plain = {"": "Cell", **vars(bare(cell)), "shape": {"": "Shape", **vars(cell.shape)}}
        return raw[json.dumps(plain | {"seeds": []}, sort_keys=True)]

    standing = []
    for row in rows():
        effects = row.effects(stored)
        if row.claim is None or row.verdict(effects) != "stands":
            continue
        standing.append((row.change, row.setting))
        text, (before, after) = row.sentence(effects), CHANGES[row.change]
        told = re.findall(r"([\d.]+) \(([\d.]+) to ([\d.]+)\)", text)
        sizes = list(map(int, text.rpartition("N=")[2].strip("$.").split(", ")))
        assert len(told) == len(sizes) >= 3
        for n, (factor, low, high) in zip(sizes, told, strict=True):
            control = replace(row.cells[n], **before)
            words = PLACES[control.place] if "place" in before else KINDS[control.kind]
            assert f"with {words}" in text.replace("with the same ", "with ")
            slow, fast = steps(control), steps(replace(control, **after))
            ratios = [slow[seed] / fast[seed] for seed in slow.keys() & fast.keys()]
            assert float(factor) == pytest.approx(np.exp(np.log(ratios).mean()), abs=0.006)
            assert float(low) <= float(factor) <= float(high)
            least, most = {"fewer": (1, np.inf), "more": (0, 1)}.get(row.claim, (0, 1.25))
            assert least <= float(low) <= float(high) <= most
    assert {*ADVISED} <= {*standing}


@pytest.mark.parametrize("n", [4, 8, 16, 32])
def test_the_place_has_the_effect_that_its_reason_predicts(stored, n) -> None:
    """1/ln 2 by rare questions alone, under the causal mask; nothing on full contexts."""

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
        (0, 1): [factor("prefixes without their last pair", "full")],
    }
    for (low, high), factors in bounds.items():
        assert all(low < each < high for each in factors if each is not None)


def test_prefixes_help_in_long_contexts_alone_and_only_with_a_free_place(stored) -> None:
    tied, free = (
        {n: stored.effect("prefixes", Cell("full", n, at)) for n in (4, 8, 16, 32, 64)}
        for at in ("tied", "free")
    )
    assert all(effect.high < 1 for effect in tied.values() if effect)
    assert [n for n, effect in free.items() if effect.low > 1] == [16, 32, 64]


def test_where_the_reason_fails(stored) -> None:
    strict = [stored.effect("free place", Cell("every", n, shape=STRICT)) for n in (8, 16)]
    assert all(0.75 < effect.factor < 1.25 for effect in strict)
    assert stored.effect("prefixes at one place", Cell("full", 32)).low > 1
