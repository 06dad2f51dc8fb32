"""What is known of rows besides their claims, and the ledger for machines, as JSON and as CSV."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bookbuild.errors import raise_if_any
from bookbuild.reporting.expectations import Expectation, read_expectation
from bookbuild.schema import faults, load
from running.records import finite

from .claims import Finding
from .evidence import Evidence
from .templates import claim_address

PREREGISTRATION = Path("data/preregistration.json")
SCHEMA = Path(__file__).with_name("ledger.schema.json")
How = Literal["timed", "estimated", "guessed"]
Written = Literal["before", "together", "after", "changed"]


@dataclass(frozen=True)
class Preregistration:
    """When an expectation was written, relative to the first report of its measure.

    `together`: both came in one commit, or on parallel branches, and the order cannot be told.
    `changed`: it was another one, `was`, when the measure existed already.
    """

    state: Written
    expectation: Expectation
    was: tuple[Expectation, ...] = ()


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
            "others": known.others.state if known and known.others.reruns else "",
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


def read_preregistration(root: Path) -> dict[str, Preregistration]:
    """Return by the id of each row whether its expectation was written before its measure existed.

    The record is derived from the history of the repository, and stored, because Binder, Colab and
    shallow clones have none. It is empty where there is none. Raises BookError for a malformed one.
    """
    if not (root / PREREGISTRATION).is_file():
        return {}
    document = load(root / PREREGISTRATION, PREREGISTRATION)
    found = faults(document, SCHEMA.with_name("preregistration.schema.json"))
    raise_if_any(f"{PREREGISTRATION}: {fault.clause}." for fault in found)
    return {
        name: Preregistration(
            row["preregistration"],
            read_expectation(row["expect"]),
            tuple(map(read_expectation, row.get("was", ()))),
        )
        for name, row in document["rows"].items()
    }


def ledger_row(finding: Finding, records: Records) -> dict[str, Any]:
    """Return a row as plain values; what is not known of it is None."""
    claim, measured, known = finding.claim, finding.measured, records.about(finding)
    words = {what: word or None for what, word in known.words.items()}
    evidence, cost = known.evidence, known.cost
    since = evidence.seeds.since or evidence.rounding.since if evidence else ""
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
        "expectation_written": words["preregistration"],
        "other_first_seeds": words["seeds"],
        "other_rounding": words["rounding"],
        "planted_faults": words["faults"],
        "verdict_alone": evidence.seeds.own if evidence else None,
        "not_renewed_since": since or None,
        "minutes_from_scratch": round(cost.minutes, 1) if cost else None,
        "minutes_are": cost.how if cost else None,
    }


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
