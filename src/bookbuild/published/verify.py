"""Published results checked by computing a random sample of them again.

An archive comes from a stranger. What is computed, and with which configuration, is what this
repository declares: its chapters, each from nothing with its trainings, and its stored runs.
"""

import shutil
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, replace

from bookbuild.costs import chapter_costs, run_costs
from bookbuild.errors import BookError
from bookbuild.execution.runs import StoredRun, stored_runs
from bookbuild.ledger.claims import read_claims
from bookbuild.results.archive import Archive
from bookbuild.results.snapshot import frozen, sources
from bookbuild.settings import Settings
from bookbuild.source.chapters import Chapter, read_chapters, read_toc

from .check import SCRATCH, WRONG, Check, Grade, Outcome
from .draw import Draw

LEAST = 0.1  # seconds that anything is taken to cost: strata are of ratios


@dataclass(frozen=True)
class Report:
    """What was drawn and found, and how much of the ledger it covers.

    Attributes:
        damaged: a sentence for each published result that is none, or not the one it says.
        stale: names of what the code here would not make, or cannot.
        draw: the sample, with its strata.
        outcomes: of what was drawn and computed again in time.
        unfinished: names of what was drawn and stopped when time was up.
        rows: judged rows of the ledger.
        measured: of them, those whose chapter was computed again and reads no stored value that
            was not.
        reading: of them, those whose chapter reads stored values.
    """

    damaged: tuple[str, ...]
    stale: tuple[str, ...]
    draw: Draw
    outcomes: tuple[Outcome, ...]
    unfinished: tuple[str, ...]
    rows: int
    measured: int
    reading: int

    @property
    def sound(self) -> bool:
        """Whether nothing was found to be wrong."""
        return not (self.damaged or any(outcome.grade in WRONG for outcome in self.outcomes))

    def count(self, grade: Grade) -> int:
        """Return how many outcomes have a grade."""
        return sum(outcome.grade == grade for outcome in self.outcomes)


def verify_archive(
    settings: Settings,
    archive: Archive,
    minutes: float,
    draw_seed: int,
    tell: Callable[[str], None],
) -> Report:
    """Read every published result, and compute a random sample again within some minutes.

    Raises BookError where nothing can be compared.
    """
    chapters = {c.name: c for c in read_chapters(settings.root, read_toc(settings.root))}
    claims = read_claims(settings.root, list(chapters))
    settings = replace(settings, folder=SCRATCH, published=None)
    settings = replace(settings, profile=archive.profile, seed=archive.seed)
    deadline = time.monotonic() + 60 * minutes
    with ExitStack() as stack:
        shutil.rmtree(settings.build, ignore_errors=True)
        stack.callback(shutil.rmtree, settings.build, ignore_errors=True)
        settings = stack.enter_context(frozen(settings, chapters.values()))
        runs = {run.name: run for run in stored_runs(settings.root, sources(settings))}
        check = Check(archive, chapters, runs, claims, settings, deadline)
        damaged, candidates = check.read()
        known = {*chapters, *runs}
        if not candidates and not damaged:
            raise BookError(
                "The published results come from other code than this: check out the commit "
                f"{_commit(archive)} to compare."
            )
        costs = chapter_costs(settings, chapters.values())
        for of_file in run_costs(settings.root).values():
            costs |= of_file
        seconds = {name: max(costs[name].seconds, LEAST) for name in candidates}
        draw = Draw(seconds, 60 * minutes, draw_seed)
        outcomes, unfinished = _sample(draw, check, deadline, tell)
    fine = {outcome.name for outcome in outcomes if outcome.grade not in WRONG}
    judged = [claim for claim in claims if claim.expectation is not None]
    stored = {name: _stored_values(chapter, runs) for name, chapter in chapters.items()}
    measured = sum(c.chapter in fine and stored[c.chapter] <= fine for c in judged)
    reading = sum(bool(stored[claim.chapter]) for claim in judged)
    stale = tuple(sorted(known - set(candidates)))
    return Report(
        damaged, stale, draw, tuple(outcomes), tuple(unfinished), len(judged), measured, reading
    )


def _sample(
    draw: Draw, check: Check, deadline: float, tell: Callable[[str], None]
) -> tuple[list[Outcome], list[str]]:
    """Compute what is drawn, as many at once as there are jobs, until nothing more fits."""
    outcomes: list[Outcome] = []
    unfinished: list[str] = []
    running: dict[Future[Outcome | None], str] = {}
    with ThreadPoolExecutor(check.settings.jobs) as pool:
        while True:
            while len(running) < check.settings.jobs and (
                name := draw.next(deadline - time.monotonic())
            ):
                tell(f"drawn: {name}, which is expected to take {draw.costs[name]:.0f} s")
                running[pool.submit(check, name)] = name
            if not running:
                return outcomes, unfinished
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                name, outcome = running.pop(future), future.result()
                if outcome is None:
                    unfinished.append(name)
                    tell(f"{name}: stopped and not verified, because the time is up")
                    continue
                draw.took(name, outcome.seconds)
                outcomes.append(outcome)
                tell(f"{name}: {outcome.grade} ({outcome.seconds:.0f} s)")
                for line in outcome.said:
                    tell(f"  {line}")


def _stored_values(chapter: Chapter, runs: Mapping[str, StoredRun]) -> set[str]:
    """Return the names of the stored values a chapter reads: runs, and other measured files."""
    return {
        name
        for file in chapter.data
        if file.endswith(".json")
        for name in [run.name for run in runs.values() if run.file == file] or [file]
    }


def _commit(archive: Archive) -> str:
    commits = {item.made["commit"] for item in archive.items if "commit" in item.made}
    return " or ".join(sorted(commits)[:3]) or "that made them"
