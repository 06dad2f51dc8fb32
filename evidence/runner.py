"""Chapters executed under variations, and the lines that the record of evidence gets from them."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

from bookbuild.errors import BookError
from bookbuild.processes import ran
from bookbuild.reporting import provenance
from bookbuild.reporting.notebook import MEASURES_FILE, OUTPUT
from bookbuild.results.code.definitions import reached_by_cells
from bookbuild.results.contents import different
from bookbuild.results.keys import chapter_fingerprint
from bookbuild.results.machine import machine_name
from bookbuild.source.chapters import read_chapter
from emergence.running.executors import SCHEDULER, default_executor

from .book import TOY, JudgedBook, PlannedExecution
from .outcomes import Digests, Numbers, digest, part_digests
from .variations import Variation, planted

CLOSE = 1e-6  # apart, as a share, that toy numbers of other processors may be
PATIENCE = {"paper": 7200, "reduced": 1200, "smoke": 300}  # seconds for a chapter
FOLDER = "_build/evidence"  # of trainings, which go on where a run was killed


@dataclass(frozen=True)
class Execution:
    """What a chapter measured, as its file has it, errors, seconds, checksums of figures' data."""

    measures: Mapping[str, Mapping[str, Any]]
    errors: Sequence[str]
    seconds: float
    arrays: Mapping[str, str]

    @property
    def values(self) -> dict[str, Any]:
        """The values by measure."""
        return {key: measure["value"] for key, measure in self.measures.items()}


def renew(
    book: JudgedBook,
    tell: Callable[[str], None],
    *,
    seconds: float,
    jobs: int,
    only: Callable[[PlannedExecution], bool] = lambda trial: True,
) -> None:
    """Renew what is outdated, the cheapest first, and keep each line at once.

    First chapters whose code is another than before are measured at toy sizes: where all numbers
    are what they were, and the code has the same numbers and texts, the record goes on. `tell`
    hears of each trial. One that would pass the `seconds` of one core is not begun, nor one that
    `only` does not want. So many as there are `jobs` are executed at once.
    """
    follow(book, tell, jobs)
    trials = [*filter(only, book.trials())]
    spent = accumulate(trial.seconds for trial in trials)
    wanted = [trial for trial, until in zip(trials, spent, strict=True) if until <= seconds]
    commit = provenance.commit(book.root)
    for (name, v, _), measured in _executed(book, wanted, jobs):
        today = chapter_fingerprint(read_chapter(book.root, name), book.settings)
        if isinstance(measured, BaseException):
            said = str(measured)
        elif today != book.today[name]:
            said = "not recorded, for the code was edited meanwhile"
        else:
            book.keep(book.outcome(name, v, commit, measured.seconds, measured.values))
            errors = f", {len(measured.errors)} errors" if measured.errors else ""
            said = f"{measured.seconds:.0f} s{errors}"
        tell(f"{name}, {v.name}: {said}")


def follow(book: JudgedBook, tell: Callable[[str], None], jobs: int) -> None:
    """Have the record go on over edits that changed no number of a chapter.

    Numbers at toy sizes decide, which are measured here. Where a number or a text in the code is
    another too, those at the book's sizes do, as the last build on this machine has stored them.
    What was recorded on another machine is measured on this one even if its code is the same, so
    that the next edit can be compared to the bit.
    """
    recorded = book.record.numbers
    made = {name: (numbers.same[-1], numbers.machine) for name, numbers in recorded.items()}
    here = {name: (today, machine_name()) for name, today in book.today.items()}
    fresh = [PlannedExecution(name, TOY, 0.0) for name in here if here[name] != made.get(name)]
    for (name, *_), measured in _executed(book, fresh, jobs):
        if isinstance(measured, BaseException):
            raise measured
        before, line = recorded.get(name), toy_numbers(book, name, measured)
        apart, said = [], "its numbers are what they were"
        if before is None:
            apart = ["nothing was recorded"]
        elif before.same[-1:] == line.same:
            said = "its toy numbers are now those of this machine"
        else:
            apart = changes(before, line)
        book.keep(gone_on(before, line) if before and not apart else line)
        tell(f"{name}: {apart[0] if apart else said}")
    numbers = book.record.numbers.values()
    lacking = [n for n in numbers if not n.paper and n.machine == machine_name()]
    built = [replace(n, paper=book.built(n.chapter)) for n in lacking]
    if any(n.paper for n in built):
        book.keep(*built)


def toy_numbers(book: JudgedBook, chapter: str, measured: Execution) -> Numbers:
    """Return the line about a chapter at toy sizes; what a clock decides is left out."""
    clocks, judged = book.chapters[chapter].timings, book.measures[chapter]
    timeless = {key: v for key, v in measured.values.items() if key not in clocks}
    smoke = {key: v for key, v in timeless.items() if key in judged}
    bits = part_digests({**timeless, **measured.arrays, "errors": measured.errors})
    same, constants = (book.today[chapter],), constants_of(book, chapter)
    return Numbers(chapter, same, constants, smoke, bits, machine_name(), book.built(chapter))


def gone_on(before: Numbers, line: Numbers) -> Numbers:
    """Return the line of a chapter whose code has changed and whose numbers have not."""
    codes = [*before.same, *line.same]
    same = tuple(codes[: codes.index(line.same[0]) + 1])
    line = replace(line, same=same, smoke={**before.smoke, **line.smoke})
    if before.machine != line.machine:
        return line
    bits, paper = {**before.bits, **line.bits}, {**before.paper, **line.paper}
    return replace(line, bits=bits, paper=paper)


def constants_of(book: JudgedBook, chapter: str) -> str:
    """Return a digest of the numbers and texts in the code that a chapter reaches."""
    cells = (cell.source for cell in book.chapters[chapter].code)
    constants = reached_by_cells(cells, book.root / "src", shown=False).constants
    return digest(sorted(map(repr, constants.items())))


def changes(before: Numbers, after: Numbers) -> list[str]:
    """Return what shows that an edit changed a number, or may have.

    What is measured or drawn no longer, or for the first time, shows nothing of the rest.
    """
    alike = before.machine == after.machine
    if alike and (other := others(before.bits, after.bits)):
        return [f"{other[0]} is another at toy sizes, so its evidence is outdated"]
    if before.constants != after.constants:
        if not (alike and before.paper and after.paper):
            return ["a number or a text in its code is another, so its evidence is outdated"]
        if other := others(before.paper, after.paper):
            return [f"{other[0]} is another in the last build, so its evidence is outdated"]
    shared = before.smoke.keys() & after.smoke.keys()
    then, now = ({key: line.smoke[key] for key in shared} for line in (before, after))
    return different(then, now, CLOSE)


def others(before: Digests, after: Digests) -> list[str]:
    """Return the names of the parts that both have, and that are not the same."""
    return [name for name, part in before.items() if after.get(name, part) != part]


def measure(root: Path, chapter: str, variation: Variation) -> Execution:
    """Execute a chapter under a variation, in a process of its own.

    Raises BookError where it cannot be executed at all, or takes too long.
    """
    with planted(variation, root) as folder, tempfile.TemporaryDirectory() as output:
        order = {
            "chapter": chapter,
            "profile": "smoke" if variation.profile == "smoke" else "paper",
            "device": variation.device,
            "seed": variation.seed,
            "trainings": str(root / FOLDER),
        }
        sources = (folder / "src", root / "bookbuild" / "src", root)
        environment = {
            "PYTHONPATH": os.pathsep.join(map(str, sources)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",
            "MPLBACKEND": "Agg",
            OUTPUT: output,
            **variation.environment,
        }
        program = [sys.executable, "-m", "evidence.chapter", json.dumps(order)]
        where = {"cwd": folder, "env": os.environ | environment}
        try:
            done = ran(program, timeout=PATIENCE[variation.profile], **where)
        except subprocess.TimeoutExpired as error:
            raise BookError(f"it did not end within {error.timeout:.0f} s") from error
        if done.returncode:
            raise BookError(f"it cannot be executed: {done.stderr.strip()[-300:]}")
        path, rest = Path(output, MEASURES_FILE), json.loads(done.stdout.splitlines()[-1])
        return Execution(json.loads(path.read_text("utf-8")) if path.is_file() else {}, **rest)


def _executed(
    book: JudgedBook, trials: Sequence[PlannedExecution], jobs: int
) -> Iterator[tuple[PlannedExecution, Execution | BaseException]]:
    """Yield what each trial measured, or why it failed, as they end.

    Workers of a Dask cluster that the environment names execute them; they see this folder.
    """
    here = not os.environ.get(SCHEDULER)
    with ThreadPoolExecutor(max(1, jobs)) if here else default_executor() as pool:
        waiting = {pool.submit(measure, book.root, t.chapter, t.variation): t for t in trials}
        try:
            for future in as_completed(waiting):
                yield waiting[future], future.exception() or future.result()
        finally:
            for future in waiting:
                future.cancel()
