"""Trials: chapters of a recorded commit, executed under variations, and what the record gets."""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from random import Random

from bookbuild.costs import chapter_costs
from bookbuild.errors import BookError, raise_if_any
from bookbuild.ledger.claims import read_claims
from bookbuild.processes import ran
from bookbuild.reporting.notebook import MEASURES_FILE, OUTPUT
from bookbuild.results.machine import machine_name
from bookbuild.schema import load
from bookbuild.settings import BuildSettings
from bookbuild.source.book import read_book
from bookbuild.source.chapters import read_chapters, read_toc

from .record import Outcome, Record, Release, different, read_record, write_record
from .variations import Variation, declared, sources_of, variations

PATIENCE = 7200.0  # seconds for a chapter


class RecordedBook:
    """The sources of the recorded commit, what they declare, and the record."""

    def __init__(self, root: Path, commit: str = "") -> None:
        """Go on with the record of a book, or begin one at a commit; else raise BookError."""
        self.root, self.record = root, read_record(root)
        known = self.record.release
        if not (commit := commit or (known.commit if known else "")):
            raise BookError("Nothing is recorded yet: begin with make record COMMIT=HEAD.")
        self.sources = sources_of(root, commit)
        chapters = read_chapters(self.sources, read_toc(self.sources))
        claims = read_claims(self.sources, [chapter.name for chapter in chapters])
        self.claims = [claim for claim in claims if claim.expectation is not None]
        judging = {claim.chapter for claim in self.claims}
        self.chapters = {page.name: page for page in chapters if page.name in judging}
        read = read_book(self.sources)
        self.stored = {*read.stored_runs, *read.measured}
        self.costs = chapter_costs(BuildSettings(self.sources), [*self.chapters.values()])
        if known is None or known.commit != commit:
            version = load(self.sources / "CITATION.cff", "CITATION.cff")["version"]
            rows = {claim.id: str(claim.expectation) for claim in self.claims}
            date = datetime.now(UTC).date().isoformat()
            self.record = Record(Release(str(version), commit, date, machine_name(), rows))

    def variations(self) -> list[Variation]:
        """Return all that is to be tried: chapters as they are, and under each variation."""
        assert self.record.release
        random = {claim.chapter: None for claim in self.claims if not claim.exact}
        reading = [name for name, page in self.chapters.items() if self.stored & {*page.data}]
        return [
            *(Variation("as it is", "base", name) for name in self.chapters),
            *(Variation("without stored runs", "without stored runs", name) for name in reading),
            *variations(declared(self.sources), [*random], self.record.release.seed),
        ]

    def lacking(self) -> list[Variation]:
        """Return what the record lacks, the cheapest first."""
        recorded = self.record.outcomes
        lacking = [v for v in self.variations() if (v.chapter, v.name) not in recorded]
        return sorted(lacking, key=lambda v: (v.kind != "base", self.seconds(v)))

    def seconds(self, variation: Variation) -> float:
        """Return about what a trial takes of one core."""
        base = self.record.base(variation.chapter, variation.sizes)
        return base.seconds if base else self.costs[variation.chapter].seconds


def make(book: RecordedBook, tell: Callable[[str], None], seconds: float, jobs: int) -> None:
    """Execute what the record lacks, the cheapest first, and keep each outcome at once.

    `tell` hears of each trial. One that would pass the `seconds` of one core is not begun. Raises
    BookError, after all others, for trials that changed nothing or could not be executed.
    """
    flaws = []
    for kinds in (["base"], None):  # what a chapter measures as it is decides what is tried
        trials = [v for v in book.lacking() if kinds is None or v.kind in kinds]
        for variation, done in executed(book, trials, seconds, jobs):
            base, said = book.record.base(variation.chapter, variation.sizes), ""
            if isinstance(done, BaseException):
                said = str(done)
            elif variation.varies and base and not different(base.values, done.values):
                said = "it changes no value that the chapter reports"
            else:
                book.record = book.record.with_outcome(done)
                write_record(book.root, book.record)
                seconds -= done.seconds
            flaws += [f"{variation}: {said}."] if said else []
            tell(f"{variation}: {said or 'recorded'}")
    raise_if_any(flaws)


def repeat(
    book: RecordedBook, tell: Callable[[str], None], sample: Random, seconds: float, jobs: int
) -> list[str]:
    """Execute drawn trials of the record again; return those that come out otherwise.

    On the machine of the record the values have to be equal to the bit, elsewhere the verdicts.
    """
    assert book.record.release
    known, apart = book.record.outcomes, []
    trials = [v for v in book.variations() if (v.chapter, v.name) in known]
    sample.shuffle(trials)
    same = book.record.release.machine == machine_name()
    for variation, done in executed(book, trials, seconds, jobs):
        if isinstance(done, BaseException):
            raise done
        before, after = known[variation.chapter, variation.name].values, done.values
        other = different(before, after)
        of = [claim for claim in book.claims if claim.chapter == variation.chapter]
        turned = [x.id for x in of if x.verdict_on(before) != x.verdict_on(after)]
        apart += [f"{variation} ({', '.join(turned or other)})"] * bool(turned or (same and other))
        tell(f"{variation}: {f'{len(other)} values differ' if other else 'equal to the bit'}")
    return apart


def executed(
    book: RecordedBook, trials: Sequence[Variation], seconds: float, jobs: int
) -> Iterator[tuple[Variation, Outcome | BaseException]]:
    """Yield what trials measured, or why they failed, as they end, for so many seconds in all."""
    until = accumulate(map(book.seconds, trials))
    wanted = [trial for trial, spent in zip(trials, until, strict=True) if spent <= seconds]
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        waiting = {pool.submit(measure, book, trial): trial for trial in wanted}
        try:
            for future in as_completed(waiting):
                yield waiting[future], future.exception() or future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def measure(book: RecordedBook, variation: Variation) -> Outcome:
    """Execute a chapter under a variation, in a process of its own; BookError if it cannot be."""
    chapter, kept = book.chapters[variation.chapter], book.root.resolve() / "_build" / "evidence"
    empty = book.stored & {*chapter.data} if variation.kind == "without stored runs" else ()
    with variation.planted(book.sources, empty) as folder:
        (folder / "output").mkdir()
        (folder / "_build").symlink_to(kept)  # where trainings and finished stored runs are kept
        for file in variation.trains:
            _run(folder, variation, "bookbuild", "runs", Path(file).stem, "--new", "--jobs=1")
        told = _run(folder, variation, "evidence.chapter", chapter.name, str(variation.seed))
        path = folder / "output" / MEASURES_FILE
        measures = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    values = {k: each["value"] for k, each in measures.items() if k not in chapter.timings}
    about = (chapter.name, variation.name, variation.kind, variation.sizes)
    return Outcome(*about, float(told.splitlines()[-1]), values)


def _run(folder: Path, variation: Variation, *module: str) -> str:
    """Run a module on the sources of a folder; return what it prints."""
    environment = {
        "PYTHONPATH": os.pathsep.join(str(folder / part) for part in ("src", "bookbuild/src", "")),
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "MPLBACKEND": "Agg",
        OUTPUT: str(folder / "output"),
        **variation.environment,
    }
    order = [sys.executable, "-m", *module]
    done = ran(order, cwd=folder, env=os.environ | environment, timeout=PATIENCE)
    if done.returncode:
        raise BookError(f"it cannot be executed: {done.stderr.strip()[-300:]}")
    return done.stdout
