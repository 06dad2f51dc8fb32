"""What computing anything again costs, as this repository declares it."""

from collections.abc import Iterable, Mapping

from bookbuild.execution.runs import StoredRun
from bookbuild.schema import load
from bookbuild.settings import Settings
from bookbuild.source.chapters import Chapter

COLD_BUILD = "data/benchmark/cold_build.json"
SMOKE = 20.0  # seconds that a chapter is taken for in the smoke profile
UNTIMED = 60.0  # and one in the paper profile that nobody has timed
UNKNOWN = 600.0  # and a stored run of which nobody wrote down the seconds


def chapter_costs(settings: Settings, chapters: Iterable[Chapter]) -> dict[str, float]:
    """Return the seconds that each chapter takes from nothing, by name.

    They are those of the record of a cold build, else the minutes of its front matter.
    """
    path = settings.root / COLD_BUILD
    timed: Mapping[str, dict[str, float]] = (
        load(path, COLD_BUILD)["chapters"] if path.is_file() else {}
    )
    costs = {
        chapter.name: timed.get(chapter.name, {}).get("seconds") or 60 * chapter.minutes or UNTIMED
        for chapter in chapters
    }
    return costs if settings.profile == "paper" else dict.fromkeys(costs, SMOKE)


def run_cost(run: StoredRun) -> float:
    """Return the seconds of one core that a stored run is declared to take."""
    return max(run.entry.seconds or UNKNOWN, 0.1)
