"""The ledger and the record of when its expectations were written agree."""

from bookbuild.ledger.records import read_preregistration
from tools.this_book import ROOT, claims


def test_the_record_has_the_expectations_of_the_ledger() -> None:
    """Where there is a history, tests/evidence holds the whole record against that."""
    recorded = {name: row.expectation for name, row in read_preregistration(ROOT).items()}
    stated = {row.id: row.expectation for row in claims().values() if row.expectation}
    differing = dict(recorded.items() ^ stated.items()).keys()
    assert not differing, "run make record WHAT=preregistration, and commit the file"
