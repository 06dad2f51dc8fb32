"""The ledger and the record of when its expectations were written agree."""

from bookbuild.ledger.foreseen import read_record, unmarked
from bookbuild.ledger.robust import read_robust
from this_book import ROOT, claims


def test_no_expectation_was_changed_without_a_mark() -> None:
    problems = list(unmarked(claims().values(), read_record(ROOT)))
    assert not problems, "\n".join(problems)


def test_the_stored_run_at_other_seeds_can_be_read() -> None:
    read_robust(ROOT)
