"""The ledger for machines: every row with its measure and its verdict, as JSON and as CSV."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from running.records import finite

from .claims import Finding
from .records import Records
from .templates import claim_address

SCHEMA = Path(__file__).with_name("ledger.schema.json")


def ledger_row(finding: Finding, records: Records) -> dict[str, Any]:
    """Return a row as plain values; what is not known of it is None."""
    claim, measured, known = finding.claim, finding.measured, records.about(finding)
    words = {what: word or None for what, word in known.words.items()}
    evidence = known.evidence
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
        "not_renewed_since": (evidence.seeds.since or evidence.rounding.since or None)
        if evidence
        else None,
        "minutes_from_scratch": round(known.cost.minutes, 1) if known.cost else None,
        "minutes_are": known.cost.how if known.cost else None,
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
