"""What is known of each row besides its claim: when it was written, its evidence, its cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from .claims import Finding
from .evidence import Evidence
from .preregistration import Preregistration

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

    @property
    def time(self) -> str:
        """The minutes as a reader says them: 12 seconds, 3 minutes, about 12 hours."""
        if self.minutes < 1:
            return counted(max(1, round(60 * self.minutes)), "second")
        if self.minutes < 90:
            return counted(round(self.minutes), "minute")
        return f"about {counted(round(self.minutes / 60), 'hour')}"


def counted(number: int, unit: str) -> str:
    """Return a number with its unit: 1 second, 2 seconds."""
    return f"{number} {unit}{'s' * (number != 1)}"


class Known(NamedTuple):
    """What is known of one row; None where it is not known."""

    preregistration: Preregistration | None
    evidence: Evidence | None
    cost: Cost | None

    @property
    def words(self) -> dict[str, str]:
        """Each record in one word, by its name in queries of the verdict page; empty for None."""
        written, known = self.preregistration, self.evidence
        return {
            "preregistration": written.state if written else "",
            "seeds": known.seeds.state if known else "",
            "rounding": known.rounding.state if known else "",
            "faults": known.alertness if known else "",
        }


@dataclass(frozen=True)
class Records:
    """What is stored of the rows beside their claims, by id."""

    preregistration: Mapping[str, Preregistration] = field(default_factory=dict)
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    costs: Mapping[str, Cost] = field(default_factory=dict)  # of the rows of each chapter
    required: bool = False  # whether the book declares variations

    def about(self, finding: Finding) -> Known:
        """Return what is known of a row; of another expectation than its own nothing is."""
        row, own = finding.claim.id, finding.claim.expectation
        written = self.preregistration.get(row)
        return Known(
            written if written and written.expectation == own else None,
            self.evidence.get(row),
            self.costs.get(finding.claim.chapter) if own is not None else None,
        )
