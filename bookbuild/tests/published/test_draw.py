"""The draw of results: what it says of its chances is what happens."""

import random
from statistics import fmean

import pytest

from bookbuild.costs import chapter_costs, run_costs
from bookbuild.published.draw import Draw
from bookbuild.published.verify import LEAST
from bookbuild.settings import Settings
from tools.this_book import ROOT, chapters


def declared() -> dict[str, float]:
    """The costs of this book's chapters, which `verify` draws, and of its stored runs, for more."""
    costs = chapter_costs(Settings(ROOT), chapters())
    for of_file in run_costs(ROOT).values():
        costs |= of_file
    return {name: max(cost.seconds, LEAST) for name, cost in costs.items()}


def audited(costs: dict[str, float], minutes: float, seed: int) -> tuple[Draw, set[str]]:
    """One audit on a clock of its own, on a machine of another speed; what it has finished."""
    dice = random.Random(seed)
    slower = dice.uniform(0.6, 2.5)
    draw, clock, finished = Draw(costs, 60 * minutes, seed), 0.0, set()
    while name := draw.next(60 * minutes - clock):
        took = costs[name] * slower * dice.lognormvariate(0, 0.3)
        clock += took
        if clock > 60 * minutes:
            break  # it is stopped, and counts as not verified
        draw.took(name, took)
        finished.add(name)
    return draw, finished


@pytest.mark.parametrize("minutes", [5, 20, 60])
def test_the_stated_chance_is_the_frequency_with_which_an_altered_result_is_met(
    minutes: int,
) -> None:
    costs, dice = declared(), random.Random(minutes)
    audits = [audited(costs, minutes, seed) for seed in range(400)]
    stated = fmean(draw.chance for draw, _ in audits)
    names = sorted(costs)
    met = fmean(dice.choice(names) in finished for _, finished in audits for _ in range(10))
    assert len(costs) > 300  # chapters and stored runs alike
    assert met == pytest.approx(stated, abs=0.03)
    assert 0 < stated < 1


def test_what_cannot_fit_is_named_and_lowers_the_chance() -> None:
    draw = Draw({"short": 1.0, "long": 100.0}, 60.0, 0)
    assert draw.never == ["long"]
    assert [draw.next(60.0), draw.next(60.0)] == ["short", None]
    assert draw.chance == 0
    draw.took("short", 1.0)
    assert draw.chance == 0.5


def test_a_draw_learns_how_slow_this_machine_is() -> None:
    draw = Draw({"a": 10.0, "b": 10.0, "c": 10.0}, 60.0, 0)
    draw.took(str(draw.next(10.0)), 30.0)
    assert draw.next(29.0) is None
    assert draw.next(30.0) is not None
