"""What *If you train models* says of the experiment, beside its stored trainings."""

import re
from dataclasses import replace

import numpy as np
import pytest

from chapters.practice.effects import CHANGES, bare, effect_of, read, sentences
from chapters.practice.stored import STRICT
from chapters.practice.training import KINDS, PLACES, Cell
from tools.this_book import ROOT

# of the advice of the page, by change and setting
ADVISED = [("N queries", each) for each in ("", "at equal tokens", "at equal queries")]
ADVISED += [("prefixes", ""), ("weights 1/n", ""), ("free place", ""), ("repeats anywhere", "")]


@pytest.fixture(scope="module")
def stored():
    """The stored trainings, as far as they have been run."""
    return read(ROOT / "data" / "practice.json")


def test_each_sentence_is_that_of_the_stored_steps(stored):
    """Factors and sizes of each sentence that stands, and its control, from the rows themselves."""

    def steps(cell):
        return {row["seed"]: row["full"][1] or row["updates"] for row in stored[bare(cell)]}

    for row, text in [(row, text) for row, text, stands in sentences(stored) if stands]:
        before, after, _ = CHANGES[row.change]
        told = re.findall(r"([\d.]+) \(([\d.]+) to ([\d.]+)\)", text)
        sizes = list(map(int, text.rpartition("N=")[2].strip("$.").split(", ")))
        since = int((re.findall(r"from (\d+) pairs", text) or [0])[0])
        assert len(told) == len(sizes) >= len([n for n in sizes if n >= since]) >= 3
        for n, (factor, low, high) in zip(sizes, told, strict=True):
            control = replace(row.cells[n], **before)
            words = PLACES[control.place] if "place" in before else KINDS[control.kind]
            assert f"with {words}" in text.replace("with the same ", "with ")
            slow, fast = steps(control), steps(replace(control, **after))
            ratios = [slow[seed] / fast[seed] for seed in slow.keys() & fast.keys()]
            assert float(factor) == pytest.approx(np.exp(np.log(ratios).mean()), abs=0.006)
            assert float(low) <= float(factor) <= float(high)
            least, most = {"fewer": (1, np.inf), "more": (0, 1)}.get(row.claim, (0, 1.25))
            assert n < since or least <= float(low) <= float(high) <= most


def test_the_advice_stands_but_not_with_rotary_positions_or_more_layers(stored):
    standing = {(row.change, row.setting) for row, _, stands in sentences(stored) if stands}
    assert {*ADVISED} <= standing
    assert not [setting for _, setting in standing if re.search("rotary|layers", setting)]
    rotary = [row for row, _, _ in sentences(stored) if row.setting == "with rotary positions"]
    effects = [effect for row in rotary for effect in row.effects(stored).values()]
    assert any(effect.high < 1 for effect in effects)


@pytest.mark.parametrize(
    ("change", "kind", "settings", "low", "high"),
    [
        ("free place", "every", {}, 1 / np.log(2), np.inf),  # by rare questions alone
        ("both parities", "every", {}, 1.1, np.inf),
        ("free place", "full", {}, 0.75, 1.25),
        ("both parities", "full", {}, 0.75, 1.25),
        ("free place", "every", {"given": True}, 0.75, 1.25),
        ("prefixes without their last pair", "full", {}, 0, 1),
        # where the reason fails
        ("free place", "full", {"given": True}, 0, 0.85),
        ("free place", "every", {"shape": STRICT}, 0.75, 1.25),
    ],
)
def test_the_place_has_the_effect_that_the_page_reports(stored, change, kind, settings, low, high):
    effects = [effect_of(stored, change, Cell(kind, n, **settings)) for n in (4, 8, 16, 32)]
    factors = [effect.factor for effect in effects if effect]
    assert len(factors) >= 2
    assert all(low < factor < high for factor in factors)


def test_prefixes_help_in_long_contexts_alone_and_only_with_a_free_place(stored):
    tied, free = (
        {n: effect_of(stored, "prefixes", Cell("full", n, at)) for n in (4, 8, 16, 32, 64)}
        for at in ("tied", "free")
    )
    assert all(effect.high < 1 for effect in tied.values() if effect)
    assert [n for n, effect in free.items() if effect.low > 1] == [16, 32, 64]
    alike = {n: effect_of(stored, "prefixes, drawn alike", Cell("full", n)) for n in (8, 16, 32)}
    assert all(effect.factor > free[n].factor for n, effect in alike.items() if effect)


def test_queries_at_one_place_keep_some_of_the_gain(stored):
    assert effect_of(stored, "prefixes at one place", Cell("full", 32)).low > 1
