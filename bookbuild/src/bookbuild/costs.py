"""How long it takes to compute a result again, as this repository declares it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bookbuild.ledger.records import Cost, How
from bookbuild.results.keys import digest
from bookbuild.schema import load
from bookbuild.settings import Settings
from bookbuild.source.book import Measured, read_book
from bookbuild.source.chapters import Chapter

COLD_BUILD = "data/benchmark/cold_build.json"
ESTIMATES = "data/benchmark/stored_runs.json"
SMOKE = 20.0  # seconds that a chapter is taken for in the smoke profile
UNTIMED = 60.0  # and one in the paper profile that nobody has timed
UNKNOWN = 600.0  # and a stored run of which nobody wrote down the seconds
CERTAIN: tuple[How, ...] = ("timed", "estimated", "guessed")


class Spent(NamedTuple):
    """Seconds that something takes, and how they are known."""

    seconds: float
    how: How


def chapter_costs(settings: Settings, chapters: Iterable[Chapter]) -> dict[str, Spent]:
    """Return the seconds that each chapter takes from nothing, by name.

    They are those of the record of a cold build, else the minutes of its front matter.
    """
    if settings.profile != "paper":
        return {chapter.name: Spent(SMOKE, "guessed") for chapter in chapters}
    timed = _record(settings.root, COLD_BUILD).get("chapters", {})
    costs = {}
    for chapter in chapters:
        if seconds := timed.get(chapter.name, {}).get("seconds"):
            costs[chapter.name] = Spent(seconds, "timed")
        elif chapter.minutes:
            costs[chapter.name] = Spent(60 * chapter.minutes, "estimated")
        else:
            costs[chapter.name] = Spent(UNTIMED, "guessed")
    return costs


def run_costs(root: Path) -> dict[str, dict[str, Spent]]:
    """Return the seconds of one core that each stored run takes, by file and by the run's name.

    Where the run itself does not say, the record of runs that were timed in part does.
    """
    estimates = _record(root, ESTIMATES).get("runs", {})
    costs: dict[str, dict[str, Spent]] = {}
    for file in (file for file in read_book(root).stored_runs if (root / file).is_file()):
        costs[file] = {}
        for place, run in enumerate(load(root / file, file), start=1):
            estimate = estimates.get(declaration_of(file, run["configuration"]))
            if run["seconds"] is not None:
                spent = Spent(run["seconds"], "timed")
            elif estimate:
                spent = Spent(estimate["seconds"], "estimated")
            else:
                spent = Spent(UNKNOWN, "guessed")
            costs[file][f"{Path(file).stem} {place}"] = spent
    return costs


def declaration_of(file: str, configuration: Any) -> str:
    """Return a digest of a stored run, whatever code makes it; its configuration is as stored."""
    return digest({"file": file, "configuration": configuration})


def measured_costs(root: Path) -> dict[str, Spent]:
    """Return the seconds that it takes to measure each file anew."""
    return {
        file: Spent(60 * how.minutes, "guessed" if how.guess else "timed")
        for file, how in measured_files(root).items()
    }


def measured_files(root: Path) -> dict[str, Measured]:
    """Return how the files below data that are measured are made, those that the book has."""
    declared = read_book(root).measured
    return {file: how for file, how in declared.items() if (root / file).is_file()}


def row_costs(settings: Settings, chapters: Sequence[Chapter]) -> dict[str, Cost]:
    """Return what the rows of each chapter take from nothing, by the chapter's name.

    A row takes what its chapter takes: its execution, the stored runs that it reads, and the files
    that commands measure for it.
    """
    spent, runs = chapter_costs(settings, chapters), run_costs(settings.root)
    measured = measured_costs(settings.root)
    costs = {}
    for chapter in chapters:
        read = [run for file in chapter.data for run in runs.get(file, {}).values()]
        again = [file for file in chapter.data if file in measured]
        parts = [spent[chapter.name], *read, *(measured[file] for file in again)]
        costs[chapter.name] = Cost(
            sum(part.seconds for part in parts) / 60,
            max((part.how for part in parts), key=CERTAIN.index),
            len(read),
            tuple(again),
            tuple(x for x in chapter.data if x.endswith(".json") and x not in {*runs, *again}),
        )
    return costs


def _record(root: Path, name: str) -> Mapping[str, Any]:
    """Return a record of the repository; an empty one where there is none."""
    return load(root / name, name) if (root / name).is_file() else {}
