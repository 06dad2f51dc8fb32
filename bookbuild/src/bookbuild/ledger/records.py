"""What is known of rows besides their claims, and the ledger for machines, as JSON and as CSV."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bookbuild.schema import load
from running.records import finite

from .claims import Finding
from .templates import claim_address

SCHEMA = Path(__file__).with_name("ledger.schema.json")
How = Literal["timed", "estimated", "guessed"]


class Cost(NamedTuple):
    """What it takes to compute the rows of a chapter from nothing."""

    minutes: float  # of one core, stored runs and measured files included
    how: How  # the least certain part of them is known
    runs: int = 0  # how many stored runs the chapter reads
    lacking: tuple[str, ...] = ()  # names of the files that it reads and nothing makes

    @property
    def time(self) -> str:
        """The minutes as a reader says them: 12 seconds, 3 minutes, about 12 hours."""
        if self.minutes < 1:
            return _counted(max(1, round(60 * self.minutes)), "second")
        if self.minutes < 90:
            return _counted(round(self.minutes), "minute")
        return f"about {_counted(round(self.minutes / 60), 'hour')}"


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'s' * (number != 1)}"


class Question(NamedTuple):
    """What a reader may ask of all rows; the evidence answers for each in one word."""

    name: str  # in addresses, and of its counts, which a page includes: `seeds_counts`
    label: str  # of its filter on the page of verdicts
    words: Mapping[str, tuple[str, str]]  # what counts say of rows with a word, and the filter


class Known(NamedTuple):
    """What evidence says of one row."""

    words: Mapping[str, str]  # the answers, by the names of the questions that have one
    remark: str  # sentences, as HTML
    fields: Mapping[str, Any]  # of the row in the published ledger


NOTHING = Known({}, "", {})


@dataclass(frozen=True)
class Records:
    """What is known of the rows beside their claims."""

    rows: Mapping[str, Known] = field(default_factory=dict)  # what evidence says, by their ids
    questions: Sequence[Question] = ()  # that the rows answer, in the order of their filters
    texts: Mapping[str, str] = field(default_factory=dict)  # that pages include, by their names
    fields: Mapping[str, Any] = field(default_factory=dict)  # JSON Schemas of what evidence adds
    costs: Mapping[str, Cost] = field(default_factory=dict)  # of the rows of each chapter

    def about(self, finding: Finding) -> Known:
        """Return what evidence says of a row, be it nothing."""
        return self.rows.get(finding.claim.id, NOTHING)

    def words(self, finding: Finding) -> list[str]:
        """Return the answers of a row in the order of the questions; an empty one for none."""
        words = self.about(finding).words
        return [words.get(question.name, "") for question in self.questions]


def ledger_row(finding: Finding, records: Records) -> dict[str, Any]:
    """Return a row as plain values; what is not known of it is None."""
    claim, measured = finding.claim, finding.measured
    cost = records.costs.get(claim.chapter) if claim.expectation else None
    fields = dict.fromkeys(records.fields) | dict(records.about(finding).fields)
    return {
        "id": claim.id,
        "kind": claim.kind,
        "source": claim.source,
        "printed": claim.printed or None,
        "statement": claim.statement,
        "address": claim_address(claim.id),
        "page": f"book/{claim.chapter}.html",
        "measure": claim.measure or None,
        "over": measured.over if measured else None,
        "measured": finite(measured.value) if measured else None,
        "expected": str(claim.expectation) if claim.expectation else None,
        "why": claim.why or claim.not_testable,
        "verdict": finding.verdict,
        **fields,
        "minutes_from_scratch": round(cost.minutes, 1) if cost else None,
        "minutes_are": cost.how if cost else None,
    }


def ledger_schema(records: Records) -> dict[str, Any]:
    """Return the JSON Schema of the published rows."""
    schema: dict[str, Any] = load(SCHEMA, SCHEMA.name)
    schema["items"]["properties"] |= records.fields
    schema["items"]["required"] += records.fields
    return schema


def ledger_json(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the rows as JSON; infinity is a text."""
    return json.dumps(rows, indent=1, ensure_ascii=False, default=str, allow_nan=False) + "\n"


def ledger_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the rows as CSV; measures are JSON in their cells."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, rows[0] if rows else (), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        measured = json.dumps(row["measured"], ensure_ascii=False)
        writer.writerow({**row, "measured": "" if row["measured"] is None else measured})
    return stream.getvalue()
