"""One published result, computed again and compared with what was published."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from bookbuild.device_comparison import verdicts
from bookbuild.errors import BookError
from bookbuild.execution.display import PlainDisplay
from bookbuild.execution.execute import execute_chapters
from bookbuild.execution.runs import StoredRun
from bookbuild.execution.sweeps import run_again
from bookbuild.ledger.claims import Claim
from bookbuild.results.admission import admitted
from bookbuild.results.archive import Archive, Item
from bookbuild.results.contents import different, everything, loosened
from bookbuild.results.executed import Entry
from bookbuild.results.keys import chapter_fingerprint, chapter_key, task_fingerprint
from bookbuild.results.machine import machine_name
from bookbuild.results.snapshot import sources
from bookbuild.results.store import UNREADABLE, DamagedError, Store
from bookbuild.results.values import from_files
from bookbuild.settings import Settings
from bookbuild.source.chapters import Chapter

SCRATCH = "_build/verify"
BUILDER = __name__.partition(".")[0]
TOLERANCE = 0.01  # relative, where processor, threads or versions are others
LINES = 5  # of a difference that are shown

Grade = Literal["equal to the bit", "equal to 1%", "undecided", "differs", "failed"]
WRONG: tuple[Grade, ...] = ("differs", "failed")


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
    runs: Mapping[str, StoredRun]
    claims: Sequence[Claim]
    settings: Settings
    deadline: float

    def read(self) -> tuple[tuple[str, ...], list[str]]:
        """Return a sentence for each damaged result, and the names of what can be made here."""
        damaged, candidates = [], []
        runs = {run.stored.key: run for run in self.runs.values()}
        for item in self.archive.items:
            chapter, run = self.chapters.get(item.name), runs.get(item.key)
            try:
                stored = self.archive.stored(item)
                if item.kind == "chapter" and chapter and self._is_current(item, chapter):
                    admitted(stored, chapter, self.archive.settings(self.settings))
                    candidates.append(item.name)
                elif item.kind == "sweep":
                    from_files(stored.files)
                    self._check_task(stored.origin.get("task"))
                elif item.kind == "run" and run:
                    if different(from_files(run.stored.files), from_files(stored.files), 0.0):
                        raise DamagedError(f"is not the stored run {run.name} of this repository")
                    candidates += [run.name] if run.current else []
            except (DamagedError, *UNREADABLE) as damage:
                said = damage if isinstance(damage, DamagedError) else "is no result of this book"
                damaged.append(f"The published result {item.key} ({item.name:.60}) {said}.")
        return tuple(damaged), candidates

    def _check_task(self, task: Any) -> None:
        """Raise DamagedError for a training of code that is not the book's; none is executed."""
        package = str(task["module"]).partition(".")[0]
        if package == BUILDER or not (sources(self.settings) / package / "__init__.py").is_file():
            raise DamagedError("is a training that was made by code other than this book's")

    def _is_current(self, item: Item, chapter: Chapter) -> bool:
        return item.fingerprint == chapter_fingerprint(chapter, self.settings)

    def __call__(self, name: str) -> Outcome | None:
        """Return what was found, or None where time ran out."""
        started = time.monotonic()
        try:
            grade, said = self._run(name) if name in self.runs else self._chapter(name)
        except TimeoutError:
            return None
        except BookError as error:
            grade, said = "failed", error.problems
        except UNREADABLE as error:  # numbers of a form that nothing here can judge
            grade, said = "failed", (f"it cannot be compared: {type(error).__name__}",)
        return Outcome(name, grade, time.monotonic() - started, tuple(said[:LINES]))

    def _chapter(self, name: str) -> tuple[Grade, Sequence[str]]:
        chapter = self.chapters[name]
        (item,) = (x for x in self.archive.of_kind("chapter") if x.name == name)
        settings = replace(self.settings, threads=item.made.get("threads", 0))
        # a chapter of its own store takes nothing that was not computed for it
        settings = replace(settings, folder=f"{SCRATCH}/{item.key}")
        key = chapter_key(chapter, settings)
        made, failures = execute_chapters([(chapter, key)], settings, Deadline(self.deadline))
        if failures:
            return "failed", failures
        both = Entry.of(self.archive.stored(item)), made[name]
        judged = {claim.measure for claim in self.claims}
        timings = set(chapter.timings) - judged  # what is judged is compared, whatever it is
        before, after = (everything(entry, timings) for entry in both)
        for place, (published, again) in enumerate(self._trainings(settings), start=1):
            before[f"training {place}"], after[f"training {place}"] = published, again
        exact = key == item.key and item.made.get("machine") == machine_name()
        grade, said = graded(before, after, exact=exact)
        if grade == "undecided":
            turned = [
                f"{row}: {there} as published, {here} here"
                for row, (there, here) in verdicts(name, both, self.claims, judged=True).items()
                if there != here
            ]
            return ("differs", turned) if turned else (grade, said)
        return grade, said

    def _trainings(self, settings: Settings) -> list[tuple[Any, Any]]:
        """Return the trainings that a chapter has just made, as published and as made."""
        published = {item.fingerprint: item for item in self.archive.of_kind("sweep")}
        store, pairs = Store(settings.results), []
        for head in [head for head in store.headers() if head["kind"] == "sweep"]:
            item = published.get(task_fingerprint(head["origin"]["task"], sources(settings)))
            made, _ = store.get(head["key"])
            with suppress(DamagedError, *UNREADABLE):  # a damaged one has been told
                if item and made:
                    theirs = from_files(self.archive.stored(item).files)
                    pairs.append(({"result": theirs}, {"result": from_files(made.files)}))
        return pairs

    def _run(self, name: str) -> tuple[Grade, Sequence[str]]:
        run = self.runs[name]
        files = run_again(run, self.settings, max(self.deadline - time.monotonic(), 0.1))
        before, after = (from_files(x) for x in (run.stored.files, files))
        return graded(before, after, exact=run.entry.machine == machine_name())


class Deadline(PlainDisplay):
    """A display that shows nothing and ends the execution when time is up."""

    def __init__(self, deadline: float) -> None:
        super().__init__(lambda _: None)
        self._deadline = deadline

    def progress(self, chapter: str, record: Mapping[str, Any] | None) -> None:
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
    apart = different(loosened(before), loosened(after), TOLERANCE)
    return ("undecided", apart) if apart else ("equal to 1%", [])
