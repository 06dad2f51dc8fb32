"""Record evidence at a commit, and repeat a part of what is recorded: python -m evidence."""

from collections import Counter
from pathlib import Path
from random import Random

import click

from bookbuild.cli import main
from bookbuild.cli.options import commands, tell, whole_number
from bookbuild.errors import BookError
from bookbuild.processes import head_of, locked
from bookbuild.settings import core_count

from .record import RECORD
from .trials import RecordedBook, make, repeat

alone = locked(Path("_build/evidence/lock"), "recording of evidence")
JOBS = whole_number("--jobs", "how many chapters are executed at once", core_count(), least=1)


@commands.command()
@click.option("--commit", default="", help="begin a record at this commit, such as HEAD")
@whole_number("--minutes", "of one core at most; 0 only lists what is lacking", least=0)
@JOBS
@alone
def record(commit: str, minutes: int | None, jobs: int) -> None:
    """Execute what the record of evidence lacks, the cheapest first; a killed run goes on."""
    root = Path.cwd()
    book = RecordedBook(root, head_of(root)[0] if commit == "HEAD" else commit)
    lacking = book.lacking()
    kinds = ", ".join(f"{n} {kind}" for kind, n in Counter(v.kind for v in lacking).items())
    took = sum(map(book.seconds, lacking)) / 60
    tell(f"lacking: {kinds or 'nothing'}; {took:.0f} minutes of one core")
    if minutes != 0:
        make(book, tell, float("inf") if minutes is None else 60.0 * minutes, jobs)


@commands.command()
@whole_number("--minutes", "of one core at most", 30, least=1)
@whole_number("--draw", "the seed of the sample; a random one by default", least=0)
@JOBS
@alone
def again(minutes: int, draw: int | None, jobs: int) -> None:
    """Execute drawn trials of the record again, and fail where one comes out otherwise."""
    if apart := repeat(RecordedBook(Path.cwd()), tell, Random(draw), 60.0 * minutes, jobs):
        raise BookError(f"{RECORD} says something else: {'; '.join(apart)}.")


if __name__ == "__main__":
    main()
