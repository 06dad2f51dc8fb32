"""What records say of each row: when it was written, its seeds, and the faults that change it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from .claims import Finding, Verdict
from .mutation import Planted
from .preregistration import Preregistration
from .seed_sensitivity import Rerun

How = Literal["timed", "estimated", "guessed"]


class Cost(NamedTuple):
    """What it takes to compute the rows of a chapter from nothing.

    Attributes:
        minutes: of one core, stored runs and measured files included.
        how: how the least certain part of them is known.
        runs: how many stored runs the chapter reads.
        measured: names of the files that commands make for it.
        lacking: names of the files that it reads and nothing makes.
    """

    minutes: float
    how: How
    runs: int = 0
    measured: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


class Known(NamedTuple):
    """What the records know of one row; None where they do not know it."""

    preregistration: Preregistration | None
    rerun: Rerun | None
    rounding: Rerun | None
    trial: Planted | None
    cost: Cost | None

    @property
    def words(self) -> dict[str, str]:
        """Each record in one word, by its name in queries of the verdict page; empty for None."""
        return {
            "preregistration": self.preregistration.state if self.preregistration else "",
            "seeds": self.rerun.steadiness if self.rerun else "",
            "rounding": self.rounding.steadiness if self.rounding else "",
            "faults": self.trial.alertness if self.trial else "",
        }


@dataclass(frozen=True)
class Records:
    """What is stored of the rows beside their claims, by id."""

    preregistration: Mapping[str, Preregistration] = field(default_factory=dict)
    reruns: Mapping[str, Rerun] = field(default_factory=dict)  # at other first seeds
    roundings: Mapping[str, Rerun] = field(default_factory=dict)
    trials: Mapping[str, Planted] = field(default_factory=dict)
    machines: Sequence[Mapping[str, Any]] = ()  # what each reported
    costs: Mapping[str, Cost] = field(default_factory=dict)  # of the rows of each chapter

    def own(self, finding: Finding) -> Verdict:
        """Return the verdict of this build alone, whatever other seeds or roundings say."""
        rerun = self.roundings.get(finding.claim.id) or self.reruns.get(finding.claim.id)
        return rerun.own if rerun else finding.verdict

    def about(self, finding: Finding) -> Known:
        """Return what is known of a row; of another expectation than its own nothing is."""
        row, own = finding.claim.id, finding.claim.expectation
        written = self.preregistration.get(row)
        return Known(
            written if written and written.expectation == own else None,
            self.reruns.get(row),
            self.roundings.get(row),
            self.trials.get(row),
            self.costs.get(finding.claim.chapter) if own is not None else None,
        )
