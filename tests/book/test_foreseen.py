"""The ledger and the record of when its expectations were written agree."""

from pathlib import Path

import pytest

from bookbuild.ledger.foreseen import read_foreseen, unmarked
from bookbuild.ledger.stored import ROUNDING, SABOTAGE, SEEDS, WITNESS, read_record
from this_book import ROOT, claims


def test_no_expectation_was_changed_without_a_mark() -> None:
    problems = list(unmarked(claims().values(), read_foreseen(ROOT)))
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("record", [SEEDS, ROUNDING, SABOTAGE, WITNESS], ids=str)
def test_the_other_records_can_be_read(record: Path) -> None:
    assert read_record(ROOT / record) or not (ROOT / record).exists()
