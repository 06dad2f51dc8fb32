"""The random sample that is computed again, and what it says about the rest."""

import math
import random
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field

WIDTH = 4  # the costs of one stratum differ by less than this factor


@dataclass
class Stratum:
    """Results whose declared costs are alike; which of them is drawn does not depend on the cost.

    Attributes:
        waiting: names that have not been drawn, in random order.
        count: how many results there are, drawn or not.
        finished: how many were drawn and computed again in time.
        dearest: the greatest declared cost, in seconds.
    """

    waiting: list[str]
    count: int
    dearest: float
    finished: int = 0


@dataclass
class Draw:
    """A random sample, stratified by costs that the repository declares, within a budget.

    While there is time, a stratum is chosen at random among those whose dearest result would still
    fit, and a result of it at random. So each result of a stratum has the same chance, and nothing
    that an archive says has a part in it.

    Attributes:
        costs: seconds that each result is declared to take, by name; positive.
        budget: seconds for all of it.
        seed: of the draw.
    """

    costs: Mapping[str, float]
    budget: float
    seed: int
    strata: list[Stratum] = field(init=False)
    never: list[str] = field(init=False)  # what does not fit into the whole budget

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)
        self._ratios: list[float] = []
        self.never = sorted(name for name, cost in self.costs.items() if cost > self.budget)
        bands: dict[int, list[str]] = {}
        for name in sorted(self.costs.keys() - set(self.never)):
            bands.setdefault(math.floor(math.log(self.costs[name], WIDTH)), []).append(name)
        self.strata = []
        self._of: dict[str, Stratum] = {}
        for _, names in sorted(bands.items()):
            dearest = max(self.costs[name] for name in names)
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
