"""The chapters and the ledger of this repository, each read once in a process."""

from functools import cache
from pathlib import Path

from bookbuild.ledger.claims import Claim, read_claims
from bookbuild.source.chapters import Chapter, read_chapters, read_toc

ROOT = Path(__file__).parents[1]


@cache
def chapters() -> list[Chapter]:
    """The chapters in the order of the table of contents; to be read only."""
    return read_chapters(ROOT, read_toc(ROOT))


@cache
def claims() -> dict[str, Claim]:
    """The rows of the ledger by id."""
    return {row.id: row for row in read_claims(ROOT, [chapter.name for chapter in chapters()])}
