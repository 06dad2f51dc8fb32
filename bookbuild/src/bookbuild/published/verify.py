"""Published results computed again, and held against what was published, byte by byte.

An archive comes from a stranger. What is computed, and with which configuration, is what this
repository declares: its chapters, with all that they ask for.
"""

import math
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any, Literal, NamedTuple

from bookbuild.costs import Cost, chapter_costs
from bookbuild.errors import BookError, raise_if_any
from bookbuild.execution.display import Display
from bookbuild.execution.execute import execute_chapters
from bookbuild.results.archive import CHAPTERS, RESULTS, Archive, Files
from bookbuild.results.contents import different, different_form, numbers_of
from bookbuild.results.executed import ExecutedChapter
from bookbuild.results.keys import chapter_fingerprint, chapter_key
from bookbuild.results.snapshot import frozen
from bookbuild.results.store import Store
from bookbuild.results.values import count_numbers, from_files, to_files
from bookbuild.settings import BuildSettings
from bookbuild.source.chapters import Chapter, read_chapters, read_toc

SCRATCH = "_build/verify"
TOLERANCE = 0.01  # relative, for a number of another machine or other versions
LINES = 5  # of a difference that are shown
HEAD = f"{'chapter':<36} {'seed':>4}  {'profile':<7} {'numbers compared':>16}  outcome"
Grade = Literal["equal", "agrees", "differs", "not recomputed"]
SAID = {"equal": "equal", "agrees": f"agrees within {TOLERANCE:.0%}", "differs": "DIFFERS"}


class Row(NamedTuple):
    """What computing a chapter again has shown, in how many numbers, and the first lines on it."""

    chapter: str
    grade: Grade
    numbers: int = 0
    part: str = ""  # what of the chapter was recomputed, or why nothing was
    said: Sequence[str] = ()

    def line(self, archive: Archive) -> str:
        """Return the row of the table."""
        outcome = ", ".join(filter(None, [SAID.get(self.grade, self.grade), self.part]))
        return (
            f"{self.chapter:<36} {archive.seed:>4}  {archive.profile:<7} {self.numbers:>16,}  "
            f"{outcome}"
        )


def verify_archive(
    settings: BuildSettings,
    archive: Archive,
    tell: Callable[[str], None],
    names: Sequence[str] = (),
    minutes: float = math.inf,
) -> list[Row]:
    """Recompute chapters that are named, or such as are drawn, for some minutes; return all rows.

    A chapter that would take too long is recomputed in one of its results. Raises BookError where
    the archive is damaged or a name is no chapter of it.
    """
    archive.check()
    chapters = {c.name: c for c in read_chapters(settings.root, read_toc(settings.root))}
    known = [name for name in chapters if name in archive.chapters]
    raise_if_any(
        f"{name} is no published chapter of this checkout; those are {', '.join(known)}."
        for name in names
        if name not in known
    )
    settings = replace(settings, folder=SCRATCH, profile=archive.profile, seed=archive.seed)
    deadline = time.monotonic() + 60 * minutes
    order = list(names) or random.sample(known, len(known))
    tell(HEAD)
    rows: dict[str, Row] = {}
    with ExitStack() as stack:
        shutil.rmtree(settings.build, ignore_errors=True)
        stack.callback(shutil.rmtree, settings.build, ignore_errors=True)
        settings = stack.enter_context(frozen(settings, chapters.values()))
        costs = chapter_costs(settings, chapters.values())
        check = Recomputation(archive, chapters, settings, costs, deadline)
        with ThreadPoolExecutor(settings.jobs) as pool:
            try:
                for done in as_completed([pool.submit(check, name) for name in order]):
                    row = done.result()
                    rows[row.chapter] = row
                    if row.grade != "not recomputed":
                        for line in (row.line(archive), *(f"  {said}" for said in row.said)):
                            tell(line)
            finally:
                check.stopped.set()
    why = "not drawn" if not names else "not named"
    foreign = Row("", "not recomputed", part="no chapter of this checkout")
    for name in sorted(archive.chapters):
        default = foreign if name not in known else Row(name, "not recomputed", part=why)
        rows.setdefault(name, default._replace(chapter=name))
        if rows[name].grade == "not recomputed":
            tell(rows[name].line(archive))
    return [*rows.values()]


def summary(rows: Collection[Row]) -> str:
    """Return how many chapters were recomputed, with what outcome, and how many were not."""
    counts = Counter(row.grade for row in rows)
    left, total = counts.pop("not recomputed", 0), sum(counts.values())
    close = f"within {TOLERANCE:.0%}"
    words: dict[Grade, str] = {"equal": "equal", "agrees": close, "differs": "different"}
    several = len(counts) > 1
    said = [f"{counts[x]} {word}" if several else word for x, word in words.items() if counts[x]]
    parts = sum(bool(row.part) for row in rows if row.grade != "not recomputed")
    outcome = f", {parts} of them in part" if parts else ""
    outcome += f": {', '.join(said)}" if said else ""
    return f"{total} of {total + left} chapters recomputed{outcome}. {left} not recomputed."


class Watched(Display):
    """A display that shows nothing and ends the execution when time is up or all is stopped."""

    def __init__(self, deadline: float, stopped: Event) -> None:
        super().__init__(lambda _: None)
        self._deadline, self._stopped = deadline, stopped

    def progress(self, chapter: str, record: Mapping[str, Any]) -> None:
        """Raise TimeoutError after the deadline, which kills what is running."""
        if time.monotonic() > self._deadline or self._stopped.is_set():
            raise TimeoutError(chapter)


@dataclass(frozen=True)
class Recomputation:
    """Chapters of this checkout computed again, each held against what an archive says of it."""

    archive: Archive
    chapters: Mapping[str, Chapter]
    settings: BuildSettings
    costs: Mapping[str, Cost]
    deadline: float
    stopped: Event = field(default_factory=Event)

    def __call__(self, name: str) -> Row:
        """Return what a chapter shows that is recomputed, whole or in one of its results."""
        left, lent = self.deadline - time.monotonic(), self.archive.chapters[name].results
        drawn = ""
        if self.costs[name].seconds > left:
            drawn = random.choice(lent) if lent and self._is_of_this_code(name) else ""
            if not drawn or left <= 0:
                return Row(name, "not recomputed", part="it takes longer than there was time")
        try:
            return self._compared(name, drawn)
        except TimeoutError:
            return Row(name, "not recomputed", part="the time was up while it was computed")
        except BookError as error:
            return Row(name, "differs", part="it cannot be recomputed", said=error.problems)

    def _is_of_this_code(self, name: str) -> bool:
        """Return whether the archive says that this checkout's code made the numbers."""
        return self.archive.chapters[name].fingerprint == chapter_fingerprint(
            self.chapters[name], self.settings
        )

    def _compared(self, name: str, drawn: str) -> Row:
        """Return the row of a chapter; TimeoutError at the deadline, BookError if it fails.

        With a result drawn, all others are lent. Of a chapter of other code everything is compared
        that today's would be lent, and not what the chapter measured.
        """
        chapter, lent = self.chapters[name], self.archive.chapters[name].results
        # a store of its own: nothing is taken that was not computed for it
        settings = replace(self.settings, folder=f"{SCRATCH}/{name}", short=0.0)
        if drawn:
            settings = replace(settings, published=self.archive.path, withheld=drawn)
        wanted = [(chapter, chapter_key(chapter, settings))]
        watched = Watched(self.deadline, self.stopped)
        executed, failures = execute_chapters(wanted, settings, watched)
        raise_if_any(failures)
        entry = executed[name]
        here, part = dict(_results(entry, settings)), ""
        compared = [f"{RESULTS}/{task}" for task in ([drawn] if drawn else lent)]
        if self._is_of_this_code(name):
            numbers = numbers_of(entry, set(chapter.timings))
            here[f"{CHAPTERS}/{name}"] = to_files(numbers)
            compared.append(f"{CHAPTERS}/{name}")
            part = f"one of its {len(lent)} results recomputed" if drawn else ""
        else:
            compared = [x for x in compared if x.rpartition("/")[2] in entry.origin["asked"]]
            part = "of other code, of which only the results are compared that it shares"
        if not compared:
            return Row(name, "not recomputed", part="it is of other code")
        pairs = ((folder, self.archive.files(folder), here.get(folder)) for folder in compared)
        grade, count, lines = compare(pairs)
        return Row(name, grade, count, part, lines)


def compare(pairs: Iterable[tuple[str, Files, Files | None]]) -> tuple[Grade, int, list[str]]:
    """Return how published files compare with those made here, in how many numbers, and where.

    They are equal if all bytes are. They agree if they have the same paths, types and shapes, and
    no number is apart by more than the tolerance.
    """
    grades: set[Grade] = {"equal"}
    count, lines = 0, []
    for folder, published, here in pairs:
        count += count_numbers(from_files(published))
        grade, said = _held(published, here)
        grades.add(grade)
        lines += [f"{folder} {line}" for line in said]
    worst = max(grades, key=("equal", "agrees", "differs").index)
    return worst, count, lines[:LINES]


def _held(published: Files, here: Files | None) -> tuple[Grade, list[str]]:
    """Return how one result compares, and where it differs."""
    if published == here:
        return "equal", []
    if here is None:
        return "differs", ["only as published"]
    values = from_files(published), from_files(here)
    if said := different_form(*values):
        return "differs", said
    said = different(*values, TOLERANCE)
    return ("differs", said) if said else ("agrees", [])


def _results(entry: ExecutedChapter, settings: BuildSettings) -> Iterator[tuple[str, Files]]:
    """Yield the results that a chapter has just asked for, by their folder in an archive."""
    store = Store(settings.results)
    for fingerprint, keys in entry.origin["asked"].items():
        stored, _ = store.get(keys[0])
        if stored is not None and len(keys) == 1:
            yield f"{RESULTS}/{fingerprint}", dict(stored.files)
