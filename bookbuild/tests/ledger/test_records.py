"""What is known of rows besides their claims, and the ledger for machines."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from bookbuild.errors import BookError
from bookbuild.ledger.claims import Claim, Finding
from bookbuild.ledger.records import (
    PREREGISTRATION,
    SCHEMA,
    Cost,
    Preregistration,
    Records,
    ledger_csv,
    ledger_json,
    ledger_row,
    read_preregistration,
)
from bookbuild.reporting.expectations import read_expectation
from bookbuild.reporting.measures import Measured
from bookbuild.schema import faults

EXPECTED, FIVE = read_expectation({"at_least": 1}), {"at_most": 5}
CLAIM = Claim("a-row", "§1", 'It "grows", always.', "paper", "paper/x", "m", EXPECTED, "Why.")
UNTESTED = Claim("b", "§2", "S.", "new", "paper/x", not_testable="No.")
FINDINGS = [
    Finding(CLAIM, Measured({"B = 1": [1.0, float("inf")]}, "settings"), "reproduced"),
    Finding(UNTESTED, None, "not testable here"),
]


def test_every_row_is_there_in_both_forms() -> None:
    rows = [ledger_row(finding, Records()) for finding in FINDINGS]
    assert json.loads(ledger_json(rows)) == rows
    assert rows[0]["measured"] == {"B = 1": [1.0, "inf"]}
    assert (rows[0]["expected"], rows[0]["page"]) == (str(EXPECTED), "book/paper/x.html")
    assert (rows[1]["measured"], rows[1]["why"]) == (None, "No.")
    read = list(csv.DictReader(io.StringIO(ledger_csv(rows))))
    assert [row["statement"] for row in read] == [CLAIM.statement, "S."]
    assert json.loads(read[0]["measured"]) == rows[0]["measured"]
    assert read[1]["measured"] == ""


def test_the_published_schema_describes_the_rows_and_their_costs() -> None:
    records = Records(costs={"paper/x": Cost(1.26, "estimated")})
    rows = [ledger_row(finding, records) for finding in FINDINGS]
    told = [(row["minutes_from_scratch"], row["minutes_are"]) for row in rows]
    assert told == [(1.3, "estimated"), (None, None)]
    assert rows[0]["address"] == "claims/a-row.html"
    assert faults(rows, SCHEMA) == []
    (fault,) = faults([{**rows[0], "verdict": "true"}], SCHEMA)
    assert fault.path == (0, "verdict")
    assert ledger_csv([]) == "\n"


def preregistered(root: Path, state: str, **row: Any) -> dict[str, Preregistration]:
    document = {"rows": {"a-row": {"preregistration": state, **row}}}
    (root / PREREGISTRATION).parent.mkdir(exist_ok=True)
    (root / PREREGISTRATION).write_text(json.dumps(document), encoding="utf-8")
    return read_preregistration(root)


def test_what_was_preregistered_is_read(tmp_path: Path) -> None:
    assert read_preregistration(tmp_path) == {}
    found = preregistered(tmp_path, "changed", expect={"at_most": "5"}, was=[{"holds": True}])
    was = (read_expectation({"holds": True}),)
    assert found == {"a-row": Preregistration("changed", read_expectation({"at_most": 5}), was)}


@pytest.mark.parametrize(
    ("state", "row", "reason"),
    [
        ("early", {"expect": FIVE}, "'rows.a-row.preregistration' is not one of"),
        ("changed", {"expect": FIVE}, "the field 'rows.a-row.was' is missing"),
        ("before", {"expect": FIVE, "was": [FIVE]}, "is only allowed with 'changed'"),
    ],
)
def test_a_malformed_record_is_refused(tmp_path: Path, state: str, row: Any, reason: str) -> None:
    with pytest.raises(BookError, match=reason):
        preregistered(tmp_path, state, **row)
