"""The ledger and the record of when its expectations were written agree."""

from pathlib import Path

from bookbuild.ledger.claims import read_claims
from bookbuild.ledger.foreseen import read_record, unmarked
from bookbuild.ledger.robust import read_robust
from bookbuild.source.chapters import read_chapters, read_toc

ROOT = Path(__file__).parents[2]


def test_no_expectation_was_changed_without_a_mark() -> None:
    chapters = [chapter.name for chapter in read_chapters(ROOT, read_toc(ROOT))]
    problems = list(unmarked(read_claims(ROOT, chapters), read_record(ROOT)))
    assert not problems, "\n".join(problems)


def test_the_stored_run_at_other_seeds_can_be_read() -> None:
    read_robust(ROOT)
