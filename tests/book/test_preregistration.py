"""The ledger and the record of when its expectations were written agree."""

from pathlib import Path

import pytest

from bookbuild.ledger.preregistration import read_preregistration
from bookbuild.ledger.stored import MUTATION, ROUNDING, SEEDS, WITNESS, read_record
from tools.this_book import ROOT, claims


def test_the_record_has_the_expectations_of_the_ledger() -> None:
    """Where there is a history, tests/evidence holds the whole record against that."""
    known = {name: row.expectation for name, row in read_preregistration(ROOT).items()}
    stated = {row.id: row.expectation for row in claims().values() if row.expectation}
    differing = dict(known.items() ^ stated.items()).keys()
    assert not differing, "run make record WHAT=preregistration, and commit the file"


@pytest.mark.parametrize("record", [SEEDS, ROUNDING, MUTATION, WITNESS], ids=str)
def test_the_other_records_can_be_read(record: Path) -> None:
    assert read_record(ROOT / record) or not (ROOT / record).exists()
