"""The ledger and the record of when its expectations were written agree."""

from pathlib import Path

import pytest

from bookbuild.ledger.preregistration import read_preregistration
from bookbuild.ledger.stored import MUTATION, ROUNDING, SEEDS, WITNESS, read_record
from tools.preregistration import unmarked
from tools.this_book import ROOT, claims


def test_no_expectation_was_changed_without_a_mark() -> None:
    problems = list(unmarked(claims().values(), read_preregistration(ROOT)))
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("record", [SEEDS, ROUNDING, MUTATION, WITNESS], ids=str)
def test_the_other_records_can_be_read(record: Path) -> None:
    assert read_record(ROOT / record) or not (ROOT / record).exists()
