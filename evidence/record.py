"""The record of evidence: what chapters measured under variations, at one commit of the book.

data/evidence.jsonl has a line for the commit, and one for each chapter under each variation.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from bookbuild.errors import BookError
from bookbuild.results.store import write_whole

from .variations import Kind, Sizes

RECORD = Path("data/evidence.jsonl")
Values = Mapping[str, Any]  # of measures, by their keys; infinity is a text


@dataclass(frozen=True)
class Release:
    """What was recorded: a commit, its expectations, and where and when it was executed."""

    version: str
    commit: str
    date: str  # on which the record was begun
    machine: str
    expectations: Mapping[str, str]  # by the ids of rows

    @property
    def seed(self) -> int:
        """The seed that nobody could know before all expectations were committed."""
        return int(self.commit[:8], 16)


@dataclass(frozen=True)
class Outcome:
    """What a chapter measured under a variation."""

    chapter: str
    variation: str  # its name
    kind: Kind  # what is varied
    sizes: Sizes
    seconds: float  # of one core
    values: Values  # of all measures but those of clocks


@dataclass(frozen=True)
class Record:
    """The lines of a record; one without a release is empty."""

    release: Release | None = None
    outcomes: Mapping[tuple[str, str], Outcome] = field(default_factory=dict)

    def of(self, chapter: str, *kinds: Kind) -> list[Outcome]:
        """Return the outcomes of a chapter, of some kinds."""
        return [o for o in self.outcomes.values() if o.chapter == chapter and o.kind in kinds]

    def base(self, chapter: str, sizes: Sizes = "paper") -> Outcome | None:
        """Return what a chapter measures without a variation."""
        return next((o for o in self.of(chapter, "base") if o.sizes == sizes), None)

    def with_outcome(self, outcome: Outcome) -> "Record":
        """Return the record with an outcome in its place."""
        outcomes = {**self.outcomes, (outcome.chapter, outcome.variation): outcome}
        return replace(self, outcomes=outcomes)


def read_record(root: Path) -> Record:
    """Return the record of a book, empty where there is none; raise BookError for a false line."""
    path, record = root / RECORD, Record()
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for number, text in enumerate(lines, start=1):
        try:
            content = json.loads(text)
            if number == 1:
                record = Record(Release(**content))
            else:
                record = record.with_outcome(Outcome(**content))
        except (TypeError, ValueError) as error:
            raise BookError(f"{RECORD}, line {number}: {error}.") from error
    return record


def write_record(root: Path, record: Record) -> None:
    """Write a record, its outcomes in the order of chapters and names."""
    outcomes = (record.outcomes[place] for place in sorted(record.outcomes))
    lines = (json.dumps(asdict(line)) for line in (record.release, *outcomes) if line)
    write_whole(root / RECORD, "".join(f"{line}\n" for line in lines).encode())


def different(before: Values, after: Values) -> list[str]:
    """Return the measures that one of two executions lacks, or that have other values."""
    every = dict.fromkeys([*before, *after])
    return [key for key in every if key not in before or before[key] != after.get(key)]
