"""The draw of what is computed again, and what it says about the rest."""

import math
import random
import statistics
from collections.abc import Sequence

from bookbuild.results.archive import Item

UNKNOWN = 60.0  # seconds that a training is taken for until one of its kind has been timed
ALTERED = 20  # the chance that is stated is for one altered result in so many


class Draw:
    """Results in random order, each handed out if it fits into what is left of the time.

    What a result takes is what it took where it was published, times how much slower this machine
    has been on those before.
    """

    def __init__(self, items: Sequence[Item], seed: int) -> None:
        self._waiting = random.Random(seed).sample(list(items), len(items))
        self._ratios: list[float] = []
        self._known: dict[str, list[float]] = {}

    def next(self, seconds_left: float) -> Item | None:
        """Return the next one that fits, if there is one."""
        for item in self._waiting:
            if self.seconds(item) <= seconds_left:
                self._waiting.remove(item)
                return item
        return None

    def took(self, item: Item, seconds: float) -> None:
        """Learn from a result that has been computed again."""
        self._known.setdefault(item.name, []).append(seconds)
        if published := item.made.get("seconds"):
            self._ratios.append(seconds / published)

    def seconds(self, item: Item) -> float:
        """Return how long a result is expected to take."""
        if item.kind == "sweep" and item.name in self._known:
            return statistics.fmean(self._known[item.name])
        slower = statistics.median(self._ratios) if self._ratios else 1.0
        return slower * item.made.get("seconds", UNKNOWN)


def chance(count: int, drawn: int, altered: int) -> float:
    """Return the probability that a random sample contains at least one of the altered results."""
    return 1 - math.comb(count - altered, drawn) / math.comb(count, drawn)


def some(count: int) -> int:
    """Return how many results one in twenty is, one at least."""
    return max(1, round(count / ALTERED))
