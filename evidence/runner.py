"""Chapters executed under variations, and the lines that the record of evidence gets from them."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bookbuild.costs import chapter_costs
from bookbuild.errors import BookError
from bookbuild.ledger.claims import read_claims
from bookbuild.ledger.outcomes import (
    RECORD,
    Line,
    Numbers,
    Outcome,
    Record,
    declared,
    digest,
    read_outcomes,
    replaced,
    text_of,
)
from bookbuild.reporting import provenance
from bookbuild.reporting.notebook import MEASURES_FILE
from bookbuild.results import executed
from bookbuild.results.code.definitions import reached_by_cells
from bookbuild.results.contents import different
from bookbuild.results.keys import chapter_fingerprint, chapter_key
from bookbuild.results.machine import gpu, machine_name
from bookbuild.results.store import write_whole
from bookbuild.settings import Settings
from bookbuild.source.chapters import Chapter, read_chapters, read_toc

from . import rounding
from .chapter import TOLD
from .variations import Variation, planted, read_variations

TOY = Variation("toy sizes", "sizes", profile="smoke")
CLOSE = 1e-6  # apart, as a share, that toy numbers of other processors may be
PATIENCE = {"paper": 7200, "reduced": 1200, "smoke": 300}  # seconds for a chapter
FOLDER = "_build/evidence"  # of trainings, which go on where a run was killed


@dataclass(frozen=True)
class Measured:
    """What a chapter measured: values by measure, errors, seconds, checksums of figures' data."""

    values: Mapping[str, Any]
    errors: tuple[str, ...]
    seconds: float
    arrays: Mapping[str, str]


@dataclass(frozen=True)
class Trial:
    """A chapter that is to be executed under a variation, and what that takes in seconds."""

    chapter: Chapter
    variation: Variation
    seconds: float


class Book:
    """The chapters of a book that judge rows, their code, and the record about them."""

    def __init__(self, root: Path) -> None:
        """Read them; raise BookError as their readers do."""
        self.root, self.settings = root, Settings(root)
        chapters = read_chapters(root, read_toc(root))
        self.measures: dict[str, set[str]] = {}
        for claim in read_claims(root, [chapter.name for chapter in chapters]):
            if claim.expectation is not None:
                self.measures.setdefault(claim.chapter, set()).add(claim.measure)
        self.chapters = {one.name: one for one in chapters if one.name in self.measures}
        self.today = {
            name: chapter_fingerprint(one, self.settings) for name, one in self.chapters.items()
        }
        self.document = declared(root)
        self.variations = read_variations(root)
        self.record = read_outcomes(root)

    def keep(self, *lines: Line) -> None:
        """Write the record with some lines anew; what is no longer declared or judged goes."""
        record = replaced(self.record, lines)
        known = {
            (chapter, one.name)
            for one in self.variations
            for chapter in self.chapters
            if one.is_for(chapter)
        }
        outcomes = {
            place: line
            for place, line in record.outcomes.items()
            if place in known or line.variation.startswith("machine ")
        }
        self.record = Record(record.numbers, record.runs, outcomes)
        write_whole(self.root / RECORD, text_of(self.record).encode())

    def trials(self) -> list[Trial]:
        """Return what is outdated or lacking, the cheapest first."""
        found = [
            Trial(chapter, one, self._seconds(name, one))
            for name, chapter in self.chapters.items()
            for one in self.variations
            if one.is_for(name) and one.kind != "rounding" and not self.is_current(name, one)
        ]
        roundings = [one for one in self.variations if one.kind == "rounding"]
        usable = next(iter(_changing(roundings)), None)
        for name, chapter in self.chapters.items():
            if usable and not any(self.is_current(name, one) for one in roundings):
                found.append(Trial(chapter, usable, self._seconds(name, usable)))
        here = [trial for trial in found if trial.variation.device == "cpu" or _has_gpu()]
        return sorted(here, key=lambda trial: trial.seconds)

    def is_current(self, chapter: str, variation: Variation) -> bool:
        """Return whether the record has a variation of a chapter, as both are today."""
        known = self.record.outcomes.get((chapter, variation.name))
        if known is None or not self.record.is_current(
            chapter, known.fingerprint, self.today[chapter]
        ):
            return False
        missing = self.measures[chapter] - {*known.values}
        whole = variation.kind in ("fault", "sizes") or not missing
        return whole and known.of == variation.declaration

    def _seconds(self, chapter: str, variation: Variation) -> float:
        """Return what a trial took last, or one like it; else what its chapter takes."""
        known = self.record.outcomes.get((chapter, variation.name))
        alike = [o.seconds for o in self.record.outcomes.values()
                 if (o.chapter, o.profile) == (chapter, variation.profile)]  # fmt: skip
        if known or alike:
            return known.seconds if known else max(alike)
        settings = replace(self.settings, profile="smoke" if variation is TOY else "paper")
        return chapter_costs(settings, [self.chapters[chapter]])[chapter].seconds


def renew(
    book: Book,
    tell: Callable[[str], None],
    *,
    seconds: float,
    jobs: int,
    workers: AbstractContextManager[Executor] | None = None,
    only: Callable[[Trial], bool] = lambda trial: True,
) -> None:
    """Renew what is outdated, the cheapest first, and keep each line at once.

    First chapters whose code is another than before are measured at toy sizes: where all numbers
    are what they were, and no constant is another, the record goes on.

    Args:
        book: what is renewed.
        tell: hears of each trial.
        seconds: of one core; a trial that would pass them is not begun.
        jobs: how many are executed at once on this machine.
        workers: execute trials in its place, as those of a Dask cluster.
        only: which trials are wanted.
    """
    follow(book, tell, jobs)
    wanted, spent = [], 0.0
    for trial in filter(only, book.trials()):
        if (spent := spent + trial.seconds) <= seconds:
            wanted.append(trial)
    commit = provenance.commit(book.root)
    for trial, measured in _executed(book, wanted, jobs, workers):
        name, one = trial.chapter.name, trial.variation
        if isinstance(measured, BaseException):
            tell(f"{name}, {one.name}: {measured}")
            continue
        values = {key: v for key, v in measured.values.items() if key in book.measures[name]}
        book.keep(
            Outcome(name, one.name, one.kind, one.profile, book.today[name], one.declaration,
                    commit, machine_name(), measured.seconds, values)
        )  # fmt: skip
        said = f", {len(measured.errors)} errors" if measured.errors else ""
        tell(f"{name}, {one.name}: {measured.seconds:.0f} s{said}")


def follow(book: Book, tell: Callable[[str], None], jobs: int) -> None:
    """Have the record go on over edits that changed no number of a chapter at toy sizes."""
    fresh = [
        Trial(chapter, TOY, 0.0)
        for name, chapter in book.chapters.items()
        if name not in book.record.numbers or book.today[name] != book.record.numbers[name].same[-1]
    ]
    for trial, measured in _executed(book, fresh, jobs, None):
        name = trial.chapter.name
        if isinstance(measured, BaseException):
            raise measured
        before = book.record.numbers.get(name)
        line = numbers_of(book, name, measured)
        apart = _differences(before, line) if before else ["nothing was recorded"]
        if before and not apart:
            same = (*before.same, book.today[name])
            line = replace(before, same=tuple(dict.fromkeys(reversed(same)))[::-1])
        book.keep(line)
        tell(f"{name}: {'its numbers are what they were' if not apart else apart[0]}")


def numbers_of(book: Book, chapter: str, measured: Measured) -> Numbers:
    """Return the line about a chapter at toy sizes; what a clock decides is left out."""
    source = book.chapters[chapter]
    cells = (cell.source for cell in source.code)
    constants = reached_by_cells(cells, book.root / "src", shown=False).constants
    timeless = {key: v for key, v in measured.values.items() if key not in source.timings}
    judged = {key: v for key, v in timeless.items() if key in book.measures[chapter]}
    bits = digest([timeless, measured.arrays, measured.errors])
    return Numbers(
        chapter, (book.today[chapter],), digest(dict(constants)), judged, bits, machine_name()
    )


def _differences(before: Numbers, after: Numbers) -> list[str]:
    """Return what shows that an edit changed a number, or may have."""
    if before.constants != after.constants:
        return ["a number or a text in its constants is another, so its evidence is outdated"]
    if before.machine == after.machine and before.bits != after.bits:
        return ["a number is another at toy sizes, so its evidence is outdated"]
    return different(dict(before.smoke), dict(after.smoke), CLOSE)


def measure(root: Path, chapter: str, variation: Variation) -> Measured:
    """Execute a chapter under a variation, in a process of its own.

    Raises BookError where it cannot be executed at all, or takes too long.
    """
    with planted(variation, root) as folder, tempfile.TemporaryDirectory() as name:
        order = {
            "chapter": chapter,
            "folder": str(folder),
            "profile": "smoke" if variation.profile == "smoke" else "paper",
            "device": variation.device,
            "seed": variation.seed,
            "output": name,
            "trainings": str(root / FOLDER),
        }
        environment = {
            "PYTHONPATH": os.pathsep.join((str(folder / "src"), str(root))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",
            "BOOKBUILD_OUTPUT": name,
            **variation.environment,
        }
        try:
            done = subprocess.run(
                [sys.executable, "-m", "evidence.chapter", json.dumps(order)],
                cwd=folder,
                env=os.environ | environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=PATIENCE[variation.profile],
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise BookError(f"it did not end within {error.timeout:.0f} s") from error
        if done.returncode:
            raise BookError(f"it cannot be executed: {done.stderr.strip()[-300:]}")
        told = json.loads(Path(name, TOLD).read_text(encoding="utf-8"))
        path = Path(name, MEASURES_FILE)
        found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    values = {key: measured["value"] for key, measured in found.items()}
    return Measured(values, tuple(told["errors"]), told["seconds"], told["arrays"])


def measure_here(chapter: str, variation: Variation, fingerprint: str) -> Measured:
    """Execute a chapter on a worker of a cluster, with the worker's own checkout of the book.

    Raises RuntimeError where its sources differ.
    """
    book = Book(Path(__file__).resolve().parents[1])
    if book.today.get(chapter) != fingerprint:
        raise RuntimeError("the worker has other sources than this machine")
    return measure(book.root, chapter, variation)


def of_this_machine(book: Book, device: str) -> list[Outcome]:
    """Return what a build of the paper profile has measured on this machine.

    Raises BookError where a chapter has not been executed here.
    """
    settings = replace(book.settings, device=device)
    name = f"machine {machine_name()}{f', {gpu()}' if device == 'cuda' else ''}"
    lines, missing = [], []
    for chapter in book.chapters.values():
        entry, _ = executed.find(settings, chapter_key(chapter, settings))
        if entry is None:
            missing.append(chapter.name)
            continue
        measured = json.loads(entry.files[MEASURES_FILE])
        values = {key: measured[key]["value"] for key in book.measures[chapter.name]}
        one = Variation(name, "device", device=device)
        lines.append(
            Outcome(chapter.name, name, "device", "paper", book.today[chapter.name],
                    one.declaration, entry.origin["commit"], machine_name(),
                    entry.origin["seconds"], values)
        )  # fmt: skip
    if missing:
        raise BookError(
            f"{len(missing)} chapters have not been executed on this machine: run make reproduce "
            "first."
        )
    return lines


def _executed(
    book: Book,
    trials: Sequence[Trial],
    jobs: int,
    workers: AbstractContextManager[Executor] | None,
) -> Iterator[tuple[Trial, Measured | BaseException]]:
    """Yield what each trial measured, or why it failed, as they end."""
    with workers or ThreadPoolExecutor(max(1, jobs)) as pool:
        waiting: dict[Future[Measured], Trial] = {}
        for trial in trials:
            name = trial.chapter.name
            if workers:
                future = pool.submit(measure_here, name, trial.variation, book.today[name])
            else:
                future = pool.submit(measure, book.root, name, trial.variation)
            waiting[future] = trial
        try:
            for future in as_completed(waiting):
                failed = future.exception()
                yield waiting[future], failed or future.result()
        finally:
            for future in waiting:
                future.cancel()


def _changing(roundings: Sequence[Variation]) -> Iterator[Variation]:
    """Yield the roundings that change a bit on this machine."""
    for one in roundings:
        if rounding.changes(one.environment):
            yield one


def _has_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())
