"""Say what evidence is outdated and what renewing it costs, and renew it: python -m evidence."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

import click

from bookbuild.cli import main
from bookbuild.cli.options import DEVICE, commands, tell, whole_number
from bookbuild.processes import locked
from bookbuild.settings import core_count

from . import ends
from .book import JudgedBook, PlannedExecution, of_this_machine
from .outcomes import RECORD, Kind
from .runner import FOLDER, follow, renew

# a command writes the whole record as it has read it, with its own lines anew
alone = locked(Path(FOLDER, "lock"), "renewal of the evidence")


@commands.command()
@whole_number("--minutes", "of one core at most; 0 only lists what is outdated", least=0)
@whole_number(
    "--jobs", "how many chapters are executed at once; by default one for each core, up to 4"
)
@click.option("--chapter", help="only of this chapter, such as paper/05_emergence")
@click.option("--kind", type=click.Choice(get_args(Kind)), help="only variations of a kind")
@alone
def record(minutes: int | None, jobs: int | None, chapter: str | None, kind: Kind | None) -> None:
    """Renew the record of evidence, the cheapest part first; a run that was killed goes on."""
    book, jobs = JudgedBook(Path.cwd()), jobs or min(core_count(), 4)

    def is_wanted(trial: PlannedExecution) -> bool:
        return chapter in (None, trial.chapter) and kind in (None, trial.variation.kind)

    ends.follow(book)
    follow(book, tell, jobs)
    for line in costs(filter(is_wanted, book.trials())):
        tell(line)
    if minutes == 0:
        return
    seconds = float("inf") if minutes is None else 60.0 * minutes
    renew(book, tell, seconds=seconds, jobs=jobs, only=is_wanted)


@commands.command()
@DEVICE
@alone
def machine(device: str) -> None:
    """Record what make reproduce has measured on this machine, beside the machine of the book."""
    book = JudgedBook(Path.cwd())
    lines = of_this_machine(book, device)
    book.keep(*lines)
    tell(f"{len(lines)} of {len(book.chapters)} chapters were executed here: {RECORD}")


def costs(trials: Iterable[PlannedExecution]) -> list[str]:
    """Return a line for each chapter with something outdated: how much, and what that takes."""
    every, lines = [*trials], []
    for name in dict.fromkeys(trial.chapter for trial in every):
        those = [trial for trial in every if trial.chapter == name]
        kinds = Counter(trial.variation.kind for trial in those)
        what = ", ".join(f"{n} {kind}{'s' * (n > 1)}" for kind, n in kinds.items())
        lines.append(f"{name}: {what} outdated or lacking, {_time(those)}")
    return [*lines, f"to renew in all: {len(every)} executions, {_time(every)} of one core"]


def _time(trials: Iterable[PlannedExecution]) -> str:
    return f"{sum(trial.seconds for trial in trials) / 60:.1f} minutes"


if __name__ == "__main__":
    main()
