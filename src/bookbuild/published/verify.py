"""Published results checked by computing a random sample of them again.

An archive comes from a stranger. What is computed, and with which configuration, is what this
repository declares: its chapters, each from nothing, with all that it asks for.
"""

import shutil
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, replace

from bookbuild.costs import chapter_costs
from bookbuild.errors import BookError
from bookbuild.ledger.claims import read_claims
from bookbuild.results.archive import Archive
from bookbuild.results.contents import seen
from bookbuild.results.snapshot import frozen
from bookbuild.settings import Settings
from bookbuild.source.chapters import Chapter, read_chapters, read_toc

from .check import SCRATCH, TOLERANCE, WRONG, Check, Grade, Outcome
from .draw import Draw

LEAST = 0.1  # seconds that anything is taken to cost: strata are of ratios


@dataclass(frozen=True)
class Report:
    """What was drawn and found, and how much of the ledger it covers.

    Attributes:
        stale: names of chapters that are not published, or of other code.
        free: whether one of them is published, and so can be altered without being drawn.
        draw: the sample, with its strata.
        outcomes: of what was drawn and computed again in time.
        unfinished: names of what was drawn and stopped when time was up.
        rows: judged rows of the ledger.
        measured: of them, those whose chapter was computed again and reads no stored value.
        reading: of them, those whose chapter reads stored values of the checkout.
        seen: by class of numbers, the share in which a change of 2% would be seen.
    """

    stale: tuple[str, ...]
    free: bool
    draw: Draw
    outcomes: tuple[Outcome, ...]
    unfinished: tuple[str, ...]
    rows: int
    measured: int
    reading: int
    seen: Mapping[str, float]

    @property
    def least(self) -> float:
        """The probability to find an altered chapter if a forger has chosen it."""
        return 0.0 if self.free else self.draw.least

    @property
    def sound(self) -> bool:
        """Whether nothing was found to be wrong."""
        return not any(outcome.grade in WRONG for outcome in self.outcomes)

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
        check = Check(archive, chapters, claims, settings, deadline)
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
        outcomes, unfinished = _sampled(draw, check, settings.jobs, deadline, tell)
    fine = {outcome.name for outcome in outcomes if outcome.grade not in WRONG}
    judged = [claim for claim in claims if claim.expectation is not None]
    stored = {name for name, chapter in chapters.items() if _reads_stored_values(chapter)}
    return Report(
        tuple(sorted((chapters.keys() | archive.chapters.keys()) - set(candidates))),
        archive.chapters.keys() > set(candidates),
        draw,
        tuple(outcomes),
        tuple(unfinished),
        len(judged),
        sum(claim.chapter in fine - stored for claim in judged),
        sum(claim.chapter in stored for claim in judged),
        _shares(archive, 0.0 if exact else TOLERANCE),
    )


def _sampled(
    draw: Draw,
    check: Callable[[str], Outcome | None],
    jobs: int,
    deadline: float,
    tell: Callable[[str], None],
) -> tuple[list[Outcome], list[str]]:
    """Compute what is drawn, as many at once as there are jobs, until nothing more fits."""
    outcomes: list[Outcome] = []
    unfinished: list[str] = []
    running: dict[Future[Outcome | None], str] = {}
    with ThreadPoolExecutor(jobs) as pool:
        while True:
            while len(running) < jobs and (name := draw.next(deadline - time.monotonic())):
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


def _shares(archive: Archive, tolerance: float) -> dict[str, float]:
    """Return, by class of numbers, in how many of them a change of 2% would be seen."""
    counts: dict[str, list[tuple[int, int]]] = {"measures": [], "figures": [], "tasks": []}
    for name in archive.chapters:
        for kind, value in archive.numbers(name).items():
            counts[kind].append(seen(value, tolerance))
    for fingerprint in archive.results:
        counts["tasks"].append(seen(archive.result(fingerprint), tolerance))
    sums = {
        kind: [sum(column) for column in zip(*each, strict=True)]
        for kind, each in counts.items()
        if each
    }
    return {kind: found / there for kind, (found, there) in sums.items() if there}


def _reads_stored_values(chapter: Chapter) -> bool:
    return any(file.endswith(".json") for file in chapter.data)
