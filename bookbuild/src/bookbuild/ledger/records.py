"""What is known of rows besides their claims, and the ledger for machines, as JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bookbuild.schema import load

from .claims import Finding
from .templates import claim_address

SCHEMA = Path(__file__).with_name("ledger.schema.json")


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
        "measured": measured.plain if measured else None,
        "expected": str(claim.expectation) if claim.expectation else None,
        "why": claim.why or claim.not_testable,
        "verdict": finding.verdict,
        **fields,
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
