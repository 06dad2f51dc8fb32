"""What is known of rows besides their claims, and the ledger for machines."""

import json

from jsonschema import Draft202012Validator

from bookbuild.ledger.claims import Claim, Finding
from bookbuild.ledger.records import (
    Known,
    Records,
    ledger_json,
    ledger_row,
    ledger_schema,
)
from bookbuild.reporting.expectations import read_expectation
from bookbuild.reporting.measures import Measure

EXPECTED = read_expectation({"at_least": 1})
CLAIM = Claim("a-row", "§1", 'It "grows", always.', "paper", "paper/x", "m", EXPECTED, "Why.")
UNTESTED = Claim("b", "§2", "S.", "new", "paper/x", not_testable="No.")
FINDINGS = [
    Finding(CLAIM, Measure({"B = 1": [1.0, float("inf")]}, "settings"), "reproduced"),
    Finding(UNTESTED, None, "not testable here"),
]


def test_every_row_is_there() -> None:
    rows = [ledger_row(finding, Records()) for finding in FINDINGS]
    assert json.loads(ledger_json(rows)) == rows
    assert rows[0]["measured"] == {"B = 1": [1.0, "inf"]}
    assert (rows[0]["expected"], rows[0]["page"]) == (str(EXPECTED), "book/paper/x.html")
    assert (rows[1]["measured"], rows[1]["why"]) == (None, "No.")


def test_the_published_schema_describes_the_rows_and_what_evidence_adds() -> None:
    known = {"a-row": Known({}, "", {"weather": "wet"})}
    fields = {"weather": {"enum": ["wet", None]}}
    records = Records(known, fields=fields)
    rows = [ledger_row(finding, records) for finding in FINDINGS]
    assert [row["weather"] for row in rows] == ["wet", None]
    assert rows[0]["address"] == "claims/a-row.html"
    validator = Draft202012Validator(ledger_schema(records))
    assert validator.is_valid(rows)
    for wrong in ({"verdict": "true"}, {"weather": "dry"}, {"more": 1}):
        assert not validator.is_valid([rows[0] | wrong])
