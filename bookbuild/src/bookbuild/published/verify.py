"""Published results checked by computing a random sample of them again.

An archive comes from a stranger. What is computed, and with which configuration, is what this
repository declares: its chapters, each from nothing, with all that it asks for.
"""

import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from bookbuild.costs import chapter_costs
from bookbuild.errors import BookError
from bookbuild.execution.display import Display
from bookbuild.execution.execute import execute_chapters
from bookbuild.ledger.claims import Claim, judge, read_claims
from bookbuild.results.archive import Archive
from bookbuild.results.contents import different, numbers_of, seen, with_numbers
from bookbuild.results.executed import ExecutedChapter
from bookbuild.results.keys import chapter_fingerprint, chapter_key
from bookbuild.results.machine import machine_name
from bookbuild.results.snapshot import frozen
from bookbuild.results.store import Store
from bookbuild.results.values import from_files
from bookbuild.settings import BuildSettings
from bookbuild.source.chapters import Chapter, read_chapters, read_toc

from .draw import CLASSES, Draw, DrawnAgain, Grade, Report

SCRATCH = "_build/verify"
LEAST = 0.1  # seconds that anything is taken to cost: strata are of ratios
TOLERANCE = 0.01  # relative, where processor, threads or versions are others
LINES = 5  # of a difference that are shown


def verify_archive(
    settings: BuildSettings,
    archive: Archive,
    minutes: float,
    draw_seed: int,
    tell: Callable[[str], None],
) -> Report:
    """Read every published result, and compute a random sample again within some minutes.

    Raises BookError where something is damaged or nothing can be compared.
    """
    archive.check()
    chapters = {c.name: c for c in read_chapters(settings.root, read_toc(settings.root))}
    claims = read_claims(settings.root, list(chapters))
    settings = replace(settings, folder=SCRATCH, profile=archive.profile, seed=archive.seed)
    deadline = time.monotonic() + 60 * minutes
    with ExitStack() as stack:
        shutil.rmtree(settings.build, ignore_errors=True)
        stack.callback(shutil.rmtree, settings.build, ignore_errors=True)
        settings = stack.enter_context(frozen(settings, chapters.values()))
        check = Recomputation(archive, chapters, claims, settings, deadline)
        candidates = check.candidates()
        if not candidates:
            raise BookError(
                "The published results come from other code than this: check out the commit "
                f"{archive.commit} to compare."
            )
        costs = chapter_costs(settings, chapters.values())
        seconds = {name: max(costs[name].seconds, LEAST) for name in candidates}
        draw = Draw(seconds, 60 * minutes, draw_seed)
        exact = all(map(check.is_exact, candidates))
        outcomes = _sampled(draw, check, settings.jobs, deadline, tell)
    equal = {outcome.name for outcome in outcomes if outcome.grade.startswith("equal")}
    stored = {n for n, x in chapters.items() if any(f.endswith(".json") for f in x.data)}
    judged = [claim.chapter for claim in claims if claim.expectation is not None]
    return Report(
        stale=tuple(sorted((chapters.keys() | archive.chapters.keys()) - set(candidates))),
        free=archive.chapters.keys() > set(candidates),
        draw=draw,
        outcomes=tuple(outcomes),
        rows=len(judged),
        measured=sum(name in equal - stored for name in judged),
        seen=shares_seen(archive, 0.0 if exact else TOLERANCE),
    )


def _sampled(
    draw: Draw,
    check: Callable[[str], DrawnAgain],
    jobs: int,
    deadline: float,
    tell: Callable[[str], None],
) -> list[DrawnAgain]:
    """Compute what is drawn, as many at once as there are jobs, until nothing more fits."""
    outcomes: list[DrawnAgain] = []
    running: set[Future[DrawnAgain]] = set()
    with ThreadPoolExecutor(jobs) as pool:
        while True:
            while len(running) < jobs and (name := draw.next(deadline - time.monotonic())):
                tell(f"drawn: {name}, which is expected to take {draw.costs[name]:.0f} s")
                running.add(pool.submit(check, name))
            if not running:
                return outcomes
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for outcome in (future.result() for future in done):
                outcomes.append(outcome)
                if outcome.grade != "stopped":
                    draw.took(outcome.name, outcome.seconds)
                tell(f"{outcome.name}: {outcome.grade} ({outcome.seconds:.0f} s)")
                for line in outcome.said:
                    tell(f"  {line}")


class Deadline(Display):
    """A display that shows nothing and ends the execution when time is up."""

    def __init__(self, deadline: float) -> None:
        super().__init__(lambda _: None)
        self._deadline = deadline

    def progress(self, chapter: str, record: Mapping[str, Any]) -> None:
        """Raise TimeoutError after the deadline, which kills what is running."""
        if time.monotonic() > self._deadline:
            raise TimeoutError(chapter)


def shares_seen(archive: Archive, tolerance: float) -> dict[str, float]:
    """Return, by class of numbers, in how many of them a change of 2% would be seen."""
    values = [pair for name in archive.chapters for pair in _numbers(archive, name).items()]
    values += [("tasks", archive.result(fingerprint)) for fingerprint in archive.results]
    visible, present = Counter[str](), Counter[str]()
    for kind, value in values:
        counts = seen(value, tolerance)
        visible[kind] += counts[0]
        present[kind] += counts[1]
    return {kind: visible[kind] / present[kind] for kind in CLASSES if present[kind]}


@dataclass(frozen=True)
class Recomputation:
    """One result computed again and held against the published one."""

    archive: Archive
    chapters: Mapping[str, Chapter]
    claims: Sequence[Claim]
    settings: BuildSettings
    deadline: float

    def candidates(self) -> list[str]:
        """Return what can be compared: published chapters of today's code."""
        published = self.archive.chapters
        return [
            name
            for name, chapter in self.chapters.items()
            if name in published
            and published[name].fingerprint == chapter_fingerprint(chapter, self.settings)
        ]

    def is_exact(self, name: str) -> bool:
        """Return whether a chapter says that it was made as it would be here, to the last bit."""
        chapter, archive = self.chapters[name], self.archive
        here = (chapter_key(chapter, self.settings), machine_name(), self.settings.threads_each)
        return here == (archive.chapters[name].key, archive.machine, archive.threads)

    def __call__(self, name: str) -> DrawnAgain:
        """Return what a chapter shows that is computed again."""
        started = time.monotonic()
        try:
            grade, lines = self._compared(name)
        except TimeoutError:
            grade, lines = "stopped", ["it is not verified, because the time is up"]
        except BookError as error:
            grade, lines = "failed", error.problems
        return DrawnAgain(name, grade, time.monotonic() - started, tuple(lines[:LINES]))

    def _compared(self, name: str) -> tuple[Grade, Sequence[str]]:
        """Return how a chapter compares; raise TimeoutError at the deadline, BookError if it fails.

        A difference is undecided where the chapter was made elsewhere, and no verdict turns by it.
        """
        chapter, exact = self.chapters[name], self.is_exact(name)
        # a store of its own: nothing is taken that was not computed for it
        settings = replace(self.settings, folder=f"{SCRATCH}/{name}", short=0.0)
        wanted = [(chapter, chapter_key(chapter, settings))]
        executed, failures = execute_chapters(wanted, settings, Deadline(self.deadline))
        if failures:
            return "failed", failures
        entry = executed[name]
        timings = set(chapter.timings) - {claim.measure for claim in self.claims}
        published, here = _numbers(self.archive, name), numbers_of(entry, timings)
        turned = self._turned(name, entry, published)
        for timing in timings:
            published["measures"].pop(timing, None)
        lent = self.archive.chapters[name].results
        published["tasks"] = {task: self.archive.result(task) for task in lent}
        here["tasks"] = {task: value for task, value in _tasks(entry, settings) if task in lent}
        apart = different(published, here, 0.0)
        if not (apart or turned):
            return "equal to the bit", []
        if not exact:
            apart = different(published, here, TOLERANCE)
        if exact or turned:
            return "differs", [*turned, *apart]
        return ("undecided", apart) if apart else ("equal to 1%", [])

    def _turned(self, name: str, entry: ExecutedChapter, published: Mapping[str, Any]) -> list[str]:
        """Return a line for each verdict that the published measures turn."""
        rows = [claim for claim in self.claims if claim.chapter == name]
        try:
            measures = with_numbers(entry.measures, published)
        except (ValueError, TypeError, LookupError, ArithmeticError):
            return []  # of another form, and so they differ
        there, here = (judge(rows, {name: x}, judged=True) for x in (measures, entry.measures))
        return [
            f"{before.claim.id}: {before.verdict} as published, {other.verdict} here"
            for before, other in zip(there, here, strict=True)
            if before.verdict != other.verdict
        ]


def _numbers(archive: Archive, name: str) -> dict[str, Any]:
    """Return what an archive says that a chapter measured; no numbers, if its form is another."""
    numbers = archive.numbers(name)
    fits = isinstance(numbers, dict) and isinstance(numbers.get("measures"), dict)
    return numbers if fits else {"measures": {}}


def _tasks(entry: ExecutedChapter, settings: BuildSettings) -> Iterator[tuple[str, Any]]:
    """Yield the results that a chapter has just asked for, with their fingerprints."""
    store = Store(settings.results)
    for fingerprint, keys in entry.origin["asked"].items():
        stored, _ = store.get(keys[0])
        if stored is not None and len(keys) == 1:
            yield fingerprint, from_files(stored.files)
