"""How long it takes to compute a result again, as this repository declares it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from bookbuild.results.keys import digest
from bookbuild.schema import load
from bookbuild.settings import BuildSettings
from bookbuild.source.book import read_book
from bookbuild.source.chapters import Chapter

COLD_BUILD = "data/benchmark/cold_build.json"
ESTIMATES = "data/benchmark/stored_runs.json"
SMOKE = 20.0  # seconds that a chapter is taken for in the smoke profile
UNTIMED = 60.0  # and one in the paper profile that nobody has timed
UNKNOWN = 600.0  # and a stored run of which nobody wrote down the seconds
How = Literal["timed", "estimated", "guessed"]


class Cost(NamedTuple):
    """Seconds that something takes, and how they are known."""

    seconds: float
    how: How


def chapter_costs(settings: BuildSettings, chapters: Iterable[Chapter]) -> dict[str, Cost]:
    """Return the seconds that each chapter takes from nothing: as recorded, else as declared."""
    if settings.profile != "paper":
        return {chapter.name: Cost(SMOKE, "guessed") for chapter in chapters}
    timed = _record(settings.root, COLD_BUILD, "chapters")
    return {
        chapter.name: _best_known(
            timed.get(chapter.name, {}).get("seconds"), 60 * chapter.minutes, UNTIMED
        )
        for chapter in chapters
    }


def run_costs(root: Path) -> dict[str, list[Cost]]:
    """Return the seconds of one core that each stored run takes, by file.

    Where the run itself does not say, the record of runs that were timed in part does.
    """
    estimates = _record(root, ESTIMATES, "runs")
    costs: dict[str, list[Cost]] = {}
    for file in (file for file in read_book(root).stored_runs if (root / file).is_file()):
        for run in load(root / file, file):
            estimate = estimates.get(declaration_of(file, run["configuration"]), {})
            spent = _best_known(run["seconds"], estimate.get("seconds"), UNKNOWN)
            costs.setdefault(file, []).append(spent)
    return costs


def _best_known(timed: float | None, estimated: float | None, guess: float) -> Cost:
    if timed is not None:
        return Cost(timed, "timed")
    return Cost(estimated, "estimated") if estimated else Cost(guess, "guessed")


def declaration_of(file: str, configuration: Any) -> str:
    """Return a digest of a stored run, whatever code makes it; its configuration is as stored."""
    return digest({"file": file, "configuration": configuration})


def measured_files(root: Path) -> dict[str, Mapping[str, Any]]:
    """Return how the files below data that are measured are made, those that the book has."""
    declared = read_book(root).measured
    return {file: how for file, how in declared.items() if (root / file).is_file()}


def row_costs(settings: BuildSettings, chapters: Sequence[Chapter]) -> dict[str, Cost]:
    """Return what the rows of each chapter take from nothing, by the chapter's name.

    A row takes what its chapter takes: its execution, the stored runs that it reads, and the files
    that commands measure for it. How that is known is said of the least certain part.
    """
    spent, runs = chapter_costs(settings, chapters), run_costs(settings.root)
    measured, costs = measured_files(settings.root), {}
    for chapter in chapters:
        parts = [spent[chapter.name]]
        for file in chapter.data:
            parts += runs.get(file, ())
            if how := measured.get(file):
                parts.append(Cost(60 * how["minutes"], "guessed" if how.get("guess") else "timed"))
        how_known = max((part.how for part in parts), key=get_args(How).index)
        costs[chapter.name] = Cost(sum(part.seconds for part in parts), how_known)
    return costs


def _record(root: Path, name: str, field: str) -> dict[str, Any]:
    """Return a field of a record of the repository; an empty one where there is none."""
    return load(root / name, name).get(field, {}) if (root / name).is_file() else {}
