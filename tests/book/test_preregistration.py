"""The ledger and the record of when its expectations were written agree."""

from bookbuild.reporting.expectations import read_expectation
from evidence.preregistration import recorded
from tools.this_book import ROOT, claims


def test_the_record_has_the_expectations_of_the_ledger() -> None:
    """Where there is a history, tests/evidence holds the whole record against that."""
    stored = {name: read_expectation(row["expect"]) for name, row in recorded(ROOT).items()}
    stated = {row.id: row.expectation for row in claims().values() if row.expectation}
    differing = dict(stored.items() ^ stated.items()).keys()
    assert not differing, "run make record WHAT=preregistration, and commit the file"
