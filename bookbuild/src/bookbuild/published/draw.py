"""The random sample that is computed again, and what it says about the rest."""

import math
import random
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple, get_args

WIDTH = 4  # the costs of one stratum differ by less than this factor
Grade = Literal["equal to the bit", "equal to 1%", "undecided", "differs", "failed", "stopped"]
WRONG: tuple[Grade, ...] = ("undecided", "differs", "failed")
CLASSES = {"measures": "measures", "figures": "the data of figures", "tasks": "results of tasks"}


@dataclass
class Stratum:
    """Results whose declared costs are alike; which one is drawn does not depend on its cost."""

    waiting: list[str]  # names that have not been drawn, in random order
    count: int  # of results, drawn or not
    dearest: float  # declared cost, in seconds
    finished: int = 0  # how many were drawn and computed again in time


class Draw:
    """A random sample, stratified by costs that the repository declares, within a budget.

    While there is time, a stratum is chosen at random among those whose dearest result would still
    fit, and a result of it at random. So each result of a stratum has the same chance, and nothing
    that an archive says has a part in it.

    Attributes:
        strata: from the cheapest to the dearest.
        never: names of what does not fit into the whole budget.
    """

    def __init__(self, costs: Mapping[str, float], budget: float, seed: int) -> None:
        """Draw by the seconds that each result is declared to take, and by those for all of it."""
        self.costs, self.budget, self.seed = costs, budget, seed
        self._dice = random.Random(seed)
        self._ratios: list[float] = []
        self._of: dict[str, Stratum] = {}
        self.never = sorted(name for name, cost in costs.items() if cost > budget)
        self.strata: list[Stratum] = []

        def band(name: str) -> int:
            return math.floor(math.log(costs[name], WIDTH))

        for _, group in groupby(sorted(costs.keys() - set(self.never), key=band), band):
            names = sorted(group)
            dearest = max(costs[name] for name in names)
            self.strata.append(Stratum(self._dice.sample(names, len(names)), len(names), dearest))
            self._of |= dict.fromkeys(names, self.strata[-1])

    def next(self, left: float) -> str | None:
        """Return what is computed next if there are so many seconds left, or None."""
        slower = statistics.median(self._ratios) if self._ratios else 1.0
        fitting = [x for x in self.strata if x.waiting and slower * x.dearest <= left]
        return self._dice.choice(fitting).waiting.pop() if fitting else None

    def took(self, name: str, seconds: float) -> None:
        """Count a result that was computed again in time, and learn how slow this machine is."""
        self._ratios.append(seconds / self.costs[name])
        self._of[name].finished += 1

    @property
    def chance(self) -> float:
        """The probability that one altered result, whichever it is, was among what was computed.

        Results that can never be drawn count as much as all others.
        """
        return sum(stratum.finished for stratum in self.strata) / max(1, len(self.costs))

    @property
    def least(self) -> float:
        """The same for the result that a forger would choose, knowing how results are drawn."""
        shares = [stratum.finished / stratum.count for stratum in self.strata]
        return 0.0 if self.never else min(shares, default=0.0)


class DrawnAgain(NamedTuple):
    """What computing a chapter again has shown, and the first lines on where it differs."""

    name: str
    grade: Grade
    seconds: float
    said: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """What was drawn and found, and how much of the ledger it covers."""

    stale: tuple[str, ...]  # names of chapters that are not published, or of other code
    free: bool  # whether one of them is published, and so can be altered without being drawn
    draw: Draw  # the sample, with its strata
    outcomes: tuple[DrawnAgain, ...]  # of what was drawn, stopped or not when time was up
    rows: int  # judged rows of the ledger
    measured: int  # of them, those whose chapter was computed again and reads no stored value
    seen: Mapping[str, float]  # by class of numbers, in which share a change of 2% would be seen

    @property
    def least(self) -> float:
        """The probability to find an altered chapter if a forger has chosen it."""
        return 0.0 if self.free else self.draw.least

    def count(self, *grades: Grade) -> int:
        """Return how many outcomes have one of these grades."""
        return sum(outcome.grade in grades for outcome in self.outcomes)

    def lines(self) -> Iterator[str]:
        """Yield what was drawn, what never could be, and what that says about the rest."""
        draw, stale = self.draw, len(self.stale)
        if stale:
            why = "because they are not published or are of other code"
            yield f"{stale} chapters are not compared, {why}: {', '.join(self.stale)}"
        grades = [f"{self.count(x)} {x}" for x in get_args(Grade) if self.count(x)]
        yield (
            f"drawn with DRAW={draw.seed}: {len(self.outcomes)} of {len(draw.costs)} chapters; "
            f"{', '.join(grades) or 'none had the time'}"
        )
        for part in draw.strata:
            yield (
                f"  of {part.count} chapters that take up to {part.dearest:.0f} s, {part.finished} "
                f"were computed again, which finds an altered one in "
                f"{part.finished / part.count:.0%} of cases"
            )
        if draw.never:
            minutes = math.ceil(max(draw.costs[name] for name in draw.never) / 60)
            yield (
                f"  {len(draw.never)} chapters take too long to be drawn in this time, and "
                f"MINUTES={minutes} would include them: {', '.join(draw.never)}"
            )
        shares = ", ".join(f"{share:.1%} of {CLASSES[kind]}" for kind, share in self.seen.items())
        yield (
            f"if one of these chapters were altered, this check would find it in {self.least:.0%} "
            f"of cases if a forger chose it, and in {draw.chance:.0%} if it were any of them"
        )
        yield f"in a chapter that is drawn, a number changed by 2% would be seen in {shares}"
        yield f"of {self.rows} judged rows of the ledger, {self.measured} were measured again"

    def problems(self) -> Iterator[str]:
        """Yield the sentences that end the command where something is wrong or is not known."""
        if wrong := self.count(*WRONG):
            yield f"Not verified: {wrong} chapters differ from what was published."
        if undecided := self.count("undecided"):
            yield (
                f"{undecided} of them differ by more than 1% and turn no verdict, and were made on "
                "another machine or with other versions: repeat the check on such a one."
            )
        if stopped := ", ".join(x.name for x in self.outcomes if x.grade == "stopped"):
            yield f"Not verified: the time was up while {stopped} was computed: give more MINUTES."
        elif not self.outcomes:
            yield "No chapter was computed again: give more MINUTES."
