"""The ledger for machines says what the pages say."""

import csv
import io
import json

from bookbuild.ledger.claims import Claim, Finding
from bookbuild.ledger.records import Cost, Records
from bookbuild.ledger.tables import SCHEMA, ledger_csv, ledger_json, ledger_row
from bookbuild.reporting.expectations import Measured, read_expectation
from bookbuild.schema import faults

EXPECTED = read_expectation({"at_least": 1})
CLAIM = Claim(
    "a-row", "§1, Eq. 2", 'It "grows", always.', "paper", "paper/x", "m", EXPECTED, "Why."
)
FINDINGS = [
    Finding(CLAIM, Measured({"B = 1": [1.0, float("inf")]}, "settings"), "reproduced"),
    Finding(
        Claim("b", "§2", "S.", "new", "paper/x", not_testable="No."), None, "not testable here"
    ),
]


def test_every_row_is_there_in_both_forms() -> None:
    rows = [ledger_row(finding, Records()) for finding in FINDINGS]
    assert json.loads(ledger_json(rows)) == rows
    assert rows[0]["measured"] == {"B = 1": [1.0, "inf"]}
    assert (rows[0]["expected"], rows[0]["page"]) == (str(EXPECTED), "book/paper/x.html")
    assert (rows[1]["measured"], rows[1]["why"]) == (None, "No.")
    read = list(csv.DictReader(io.StringIO(ledger_csv(rows))))
    assert [row["id"] for row in read] == ["a-row", "b"]
    assert read[0]["statement"] == CLAIM.statement
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
