"""Published results checked by computing a random sample of them again."""

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Literal

from bookbuild.device_comparison import verdicts
from bookbuild.errors import BookError
from bookbuild.execution.display import PlainDisplay
from bookbuild.execution.execute import execute
from bookbuild.execution.retrain import train_again
from bookbuild.ledger.claims import Claim, read_claims
from bookbuild.results.archive import Archive, Item
from bookbuild.results.contents import contents, different
from bookbuild.results.executed import Entry
from bookbuild.results.keys import chapter_fingerprint, chapter_key, task_fingerprint, task_key
from bookbuild.results.machine import machine
from bookbuild.results.snapshot import frozen, sources
from bookbuild.results.store import DamagedError
from bookbuild.results.values import from_files
from bookbuild.settings import Settings
from bookbuild.source.chapters import Chapter, read_chapters, read_toc

from .draw import Draw

SCRATCH = "_build/verify"
TOLERANCE = 0.01  # relative, where processor, threads or versions are others
LINES = 5  # of a difference that are shown

Grade = Literal[
    "equal to the bit", "equal to 1%", "same verdicts", "apart elsewhere", "differs", "failed"
]
WRONG: tuple[Grade, ...] = ("differs", "failed")


@dataclass(frozen=True)
class Outcome:
    """What computing a result again has shown."""

    item: Item
    grade: Grade
    seconds: float
    said: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """What was drawn and found, and how much of the ledger it covers."""

    damaged: tuple[str, ...]
    stale: tuple[Item, ...]  # of other code than lies here
    candidates: tuple[Item, ...]  # that the draw chose from
    outcomes: tuple[Outcome, ...]
    rows: int  # judged rows of the ledger
    covered: int  # of them, those of chapters that were executed again

    @property
    def sound(self) -> bool:
        """Whether nothing was found to be wrong."""
        return not (self.damaged or any(outcome.grade in WRONG for outcome in self.outcomes))

    def count(self, grade: Grade) -> int:
        """Return how many outcomes have a grade."""
        return sum(outcome.grade == grade for outcome in self.outcomes)


def verify(
    settings: Settings,
    archive: Archive,
    minutes: float,
    draw_seed: int,
    tell: Callable[[str], None],
) -> Report:
    """Read every published result, and compute a random sample again within some minutes.

    Raises BookError where nothing can be compared since the code here is another.
    """
    damaged = tuple(archive.damaged())
    toc = read_toc(settings.root)
    chapters = {chapter.name: chapter for chapter in read_chapters(settings.root, toc)}
    claims = read_claims(settings.root, list(chapters))
    settings = replace(
        settings, folder=SCRATCH, profile=archive.profile, seed=archive.seed, published=None
    )
    deadline = time.monotonic() + 60 * minutes
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, settings.build, ignore_errors=True)
        settings = stack.enter_context(frozen(settings, chapters.values()))
        sound = [item for item in archive.items if _legible(archive, item)]
        candidates = [item for item in sound if _current(item, archive, chapters, settings)]
        stale = tuple(item for item in sound if item not in candidates)
        if not candidates:
            raise BookError(
                "The published results are of other code than lies here: check out the commit "
                f"{_commit(archive)} to compare."
            )
        archive.lend_trainings(settings)
        check = _Check(archive, chapters, claims, settings, deadline)
        outcomes = _sample(Draw(candidates, draw_seed), check, deadline, tell)
    executed = {outcome.item.name for outcome in outcomes if outcome.item.kind == "chapter"}
    judged = [claim for claim in claims if claim.expectation is not None]
    covered = sum(claim.chapter in executed for claim in judged)
    return Report(damaged, stale, tuple(candidates), tuple(outcomes), len(judged), covered)


@dataclass(frozen=True)
class _Check:
    """One result computed again and held against the published one."""

    archive: Archive
    chapters: Mapping[str, Chapter]
    claims: Sequence[Claim]
    settings: Settings
    deadline: float  # at which a training is given up

    def __call__(self, item: Item) -> Outcome | None:
        """Return what was found, or None where time ran out."""
        started = time.monotonic()
        check = self._chapter if item.kind == "chapter" else self._training
        try:
            grade, said = check(item)
        except TimeoutError:
            return None
        except BookError as error:
            grade, said = "failed", error.problems
        return Outcome(item, grade, time.monotonic() - started, tuple(said[:LINES]))

    def _chapter(self, item: Item) -> tuple[Grade, Sequence[str]]:
        chapter = self.chapters[item.name]
        settings = replace(self.settings, threads=item.made.get("threads", 0))
        key = chapter_key(chapter, settings)
        stored = self.archive.stored(item)
        made, failures = execute([(chapter, key)], settings, PlainDisplay(lambda _: None))
        if failures:
            return "failed", failures
        before, after = Entry.of(stored), made[item.name]
        differences = list(different(contents(before), contents(after), 0.0))
        if not differences:
            return "equal to the bit", ()
        if _same_bits_expected(item, key):
            return "differs", differences
        apart = list(different(_measures(before), _measures(after), TOLERANCE))
        if not apart:
            return "equal to 1%", ()
        both = verdicts(item.name, (before, after), self.claims, judged=True)
        turned = [
            f"{row}: {there} as published, {here} here"
            for row, (there, here) in both.items()
            if there != here
        ]
        return ("differs", turned) if turned else ("same verdicts", apart)

    def _training(self, item: Item) -> tuple[Grade, Sequence[str]]:
        stored = self.archive.stored(item)
        task, folder = stored.origin["task"], sources(self.settings)
        left = self.deadline - time.monotonic()
        files = train_again(task, folder, self.archive.device, seconds=max(left, 1.0))
        before, after = ({"result": from_files(x)} for x in (stored.files, files))
        differences = list(different(before, after, 0.0))
        if not differences:
            return "equal to the bit", ()
        if _same_bits_expected(item, task_key(task, self.archive.device, folder)):
            return "differs", differences
        # rounding grows along a training, and no verdict hangs on it alone
        apart = list(different(before, after, TOLERANCE))
        return ("apart elsewhere", apart) if apart else ("equal to 1%", ())


def _sample(
    draw: Draw, check: _Check, deadline: float, tell: Callable[[str], None]
) -> list[Outcome]:
    """Compute what is drawn, as many at once as there are jobs, until nothing more fits."""
    outcomes: list[Outcome] = []
    jobs = check.settings.jobs
    running: dict[Future[Outcome | None], Item] = {}
    with ThreadPoolExecutor(jobs) as pool:
        while True:
            while len(running) < jobs and (item := draw.next(deadline - time.monotonic())):
                tell(f"drawn: {_called(item)}, about {draw.seconds(item):.0f} s")
                running[pool.submit(check, item)] = item
            if not running:
                return outcomes
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                item, outcome = running.pop(future), future.result()
                if outcome is None:
                    tell(f"{_called(item)}: given up, out of time")
                    continue
                draw.took(outcome.item, outcome.seconds)
                outcomes.append(outcome)
                tell(f"{_called(outcome.item)}: {outcome.grade} ({outcome.seconds:.0f} s)")
                for line in outcome.said:
                    tell(f"  {line}")


def _same_bits_expected(item: Item, key: str) -> bool:
    """Return whether this machine and its versions are those that made a result."""
    return key == item.key and item.made.get("machine") == machine()


def _measures(entry: Entry) -> dict[str, Any]:
    return {key: measure["value"] for key, measure in entry.measures.items()}


def _legible(archive: Archive, item: Item) -> bool:
    try:
        archive.stored(item)
    except DamagedError:
        return False
    return True


def _current(
    item: Item, archive: Archive, chapters: Mapping[str, Chapter], settings: Settings
) -> bool:
    """Return whether the code here is the one that made a result, and can make it again."""
    if item.kind == "chapter":
        chapter = chapters.get(item.name)
        return chapter is not None and chapter_fingerprint(chapter, settings) == item.fingerprint
    if archive.device != settings.device:
        return False  # its configuration names the device
    task = archive.stored(item).origin["task"]
    return task_fingerprint(task, sources(settings)) == item.fingerprint


def _commit(archive: Archive) -> str:
    commits = {item.made["commit"] for item in archive.items if "commit" in item.made}
    return " or ".join(sorted(commits)) or "that made them"


def _called(item: Item) -> str:
    return item.name if item.kind == "chapter" else f"{item.name} {item.key[:8]}"
