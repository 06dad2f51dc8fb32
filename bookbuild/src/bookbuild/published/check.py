"""One published chapter, computed again and compared with what was published."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bookbuild.errors import BookError
from bookbuild.execution.display import Display
from bookbuild.execution.execute import execute_chapters
from bookbuild.ledger.claims import Claim, judge
from bookbuild.results.archive import Archive
from bookbuild.results.contents import different, numbers_of, with_numbers
from bookbuild.results.executed import Entry
from bookbuild.results.keys import chapter_fingerprint, chapter_key
from bookbuild.results.machine import machine_name
from bookbuild.results.store import Store
from bookbuild.results.values import from_files
from bookbuild.settings import Settings
from bookbuild.source.chapters import Chapter

SCRATCH = "_build/verify"
TOLERANCE = 0.01  # relative, where processor, threads or versions are others
LINES = 5  # of a difference that are shown

Grade = Literal["equal to the bit", "equal to 1%", "undecided", "differs", "failed"]
WRONG: tuple[Grade, ...] = ("undecided", "differs", "failed")


@dataclass(frozen=True)
class Outcome:
    """What computing a result again has shown."""

    name: str
    grade: Grade
    seconds: float
    said: tuple[str, ...] = ()


@dataclass(frozen=True)
class Check:
    """One result computed again and held against the published one."""

    archive: Archive
    chapters: Mapping[str, Chapter]
    claims: Sequence[Claim]
    settings: Settings
    deadline: float

    def candidates(self) -> list[str]:
        """Return what can be compared: published chapters of today's code."""
        made = self.archive.chapters
        return [
            name
            for name, chapter in self.chapters.items()
            if name in made
            and made[name].fingerprint == chapter_fingerprint(chapter, self.settings)
        ]

    def __call__(self, name: str) -> Outcome | None:
        """Return what was found, or None where time ran out."""
        started = time.monotonic()
        try:
            grade, said = self._chapter(name)
        except TimeoutError:
            return None
        except BookError as error:
            grade, said = "failed", error.problems
        return Outcome(name, grade, time.monotonic() - started, tuple(said[:LINES]))

    def is_exact(self, name: str) -> bool:
        """Return whether a chapter says that it was made as it would be here, to the last bit."""
        chapter, archive = self.chapters[name], self.archive
        here = (chapter_key(chapter, self.settings), machine_name(), self.settings.threads_each)
        return here == (archive.chapters[name].key, archive.machine, archive.threads)

    def _chapter(self, name: str) -> tuple[Grade, Sequence[str]]:
        chapter, exact = self.chapters[name], self.is_exact(name)
        # a store of its own: nothing is taken that was not computed for it
        settings = replace(self.settings, folder=f"{SCRATCH}/{name}", short=0.0)
        wanted = [(chapter, chapter_key(chapter, settings))]
        made, failures = execute_chapters(wanted, settings, Deadline(self.deadline))
        if failures:
            return "failed", failures
        entry = made[name]
        timings = set(chapter.timings) - {claim.measure for claim in self.claims}
        published, again = self.archive.numbers(name), numbers_of(entry, timings)
        turned = self._turned(name, entry, published)
        for timing in timings:
            published["measures"].pop(timing, None)
        lent = self.archive.chapters[name].results
        published["tasks"] = {task: self.archive.result(task) for task in lent}
        again["tasks"] = {task: made for task, made in self._tasks(entry, settings) if task in lent}
        grade, said = graded(published, again, exact=exact)
        return ("differs", [*turned, *said]) if turned else (grade, said)

    def _turned(self, name: str, entry: Entry, published: Mapping[str, Any]) -> list[str]:
        """Return a line for each verdict that the published measures turn."""
        rows = [claim for claim in self.claims if claim.chapter == name]
        measured = {"here": entry.measures}
        try:
            measured["there"] = with_numbers(entry.measures, published)
        except (ValueError, TypeError, LookupError, ArithmeticError):
            return []  # of another form, and so they differ
        found = {
            place: judge(rows, {name: measures}, judged=True)
            for place, measures in measured.items()
        }
        return [
            f"{there.claim.id}: {there.verdict} as published, {here.verdict} here"
            for there, here in zip(found["there"], found["here"], strict=True)
            if there.verdict != here.verdict
        ]

    def _tasks(self, entry: Entry, settings: Settings) -> Iterator[tuple[str, Any]]:
        """Yield the results that the chapter has just asked for, with their fingerprints."""
        store = Store(settings.results)
        for fingerprint, keys in entry.origin["asked"].items():
            made, _ = store.get(keys[0])
            if made is not None and len(keys) == 1:
                yield fingerprint, from_files(made.files)


class Deadline(Display):
    """A display that shows nothing and ends the execution when time is up."""

    def __init__(self, deadline: float) -> None:
        super().__init__(lambda _: None)
        self._deadline = deadline

    def progress(self, chapter: str, record: Mapping[str, Any]) -> None:
        """Raise TimeoutError after the deadline, which kills what is running."""
        if time.monotonic() > self._deadline:
            raise TimeoutError(chapter)


def graded(
    before: dict[str, Any], after: dict[str, Any], *, exact: bool
) -> tuple[Grade, list[str]]:
    """Return how equal two results are; to the bit, if `exact`, or one of them is wrong."""
    apart = different(before, after, 0.0)
    if not apart:
        return "equal to the bit", []
    if exact:
        return "differs", apart
    apart = different(before, after, TOLERANCE)
    return ("undecided", apart) if apart else ("equal to 1%", [])
