"""Computation of everything from scratch, including stored runs, in a separate folder."""

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from bookbuild.costs import (
    CERTAIN,
    chapter_costs,
    measured_costs,
    measured_files,
    row_costs,
    run_costs,
)
from bookbuild.errors import BookError, raise_if_any
from bookbuild.execution.display import Display
from bookbuild.execution.runs import File, stored_runs
from bookbuild.execution.sweeps import run_stored
from bookbuild.ledger.claims import Claim, read_claims
from bookbuild.pipeline import Told, renew_book
from bookbuild.reporting.provenance import versions
from bookbuild.results.contents import different
from bookbuild.results.snapshot import sources
from bookbuild.results.store import write_whole
from bookbuild.settings import Settings
from bookbuild.source.book import Book, read_book
from bookbuild.source.chapters import Chapter, read_chapters, read_toc
from running.records import written

from .remeasured import measure_again

FOLDER = "_build/scratch"
COPIED = ("src", "book", "_toc.yml", "_config.yml", "CITATION.cff")
WHERE_THERE = ("tools", "proofs")  # what commands read that measure files of data
DATA = "data"
CACHES = shutil.ignore_patterns("__pycache__")


def reproduce_from_scratch(
    settings: Settings, display: Display, tell: Callable[[str], None]
) -> tuple[Told, Settings]:
    """Compute what the book's chapters read and the book anew; return what was told, and where.

    What is finished is kept there, so a second call goes on where the first was stopped. Raises
    BookError where something fails or what a run or a measurement needs is not installed.
    """
    chapters = read_chapters(settings.root, read_toc(settings.root, settings.part))
    scratch = recompute(settings, chapters, tell)
    return renew_book(scratch, display, tell), scratch


def recompute(
    settings: Settings, chapters: Sequence[Chapter], tell: Callable[[str], None]
) -> Settings:
    """Compute anew the stored runs and measured files that chapters read; return where they lie.

    Raises BookError like `reproduce_from_scratch`.
    """
    for line in costs_by_chapter(settings, chapters):
        tell(line)
    book, read = read_book(settings.root), {file for x in chapters for file in x.data}
    measured = {file: how for file, how in measured_files(settings.root).items() if file in read}
    late = {file: how for file, how in measured.items() if how.last}
    # what is measured last executes every chapter, so it needs every run
    there = (file for file in book.stored_runs if (settings.root / file).is_file())
    files = [file for file in there if late or file in read]
    raise_if_any(
        f"The runs of {Path(name).stem} need {', '.join(packages)}: install them first."
        for name in files
        for packages in [File(name, settings.root, sources(settings)).runs.packages]
        if len(versions(packages)) <= len(packages)
    )
    scratch = replace(settings, root=settings.root / FOLDER, published=None)
    _copy(settings.root, scratch.root, book)
    early = {file: how for file, how in measured.items() if not how.last}
    measure_again(early, scratch.root, tell)
    for name in files:
        left = run_stored(Path(name).stem, scratch, None)
        raise_if_any(
            [f"{len(left)} runs of {name} are not finished: run the command again to continue."]
            if left
            else []
        )
    _compare(files, settings, scratch, tell)
    measure_again(late, scratch.root, tell)
    return scratch


def costs_by_chapter(settings: Settings, chapters: Sequence[Chapter]) -> list[str]:
    """Return lines about what chapters take from nothing, and on what their judged rows rest."""
    by_chapter = row_costs(settings, chapters)
    rows = Counter(claim.chapter for claim in judged_rows(settings, chapters))
    lines, computed = [], 0
    for name, cost in by_chapter.items():
        line = f"{name}: {rows[name]} judged rows, {cost.minutes:.1f} min {cost.how}"
        line += f", {cost.runs} stored runs among them" if cost.runs else ""
        line += f", {', '.join(map(_base, cost.measured))} among them" if cost.measured else ""
        if cost.lacking:
            line += f"; it reads {', '.join(map(_base, cost.lacking))}, which nothing computes here"
        else:
            computed += rows[name]
        lines.append(line)
    share = computed / max(1, rows.total())
    lines.append(f"all {rows.total()} judged rows: {_whole(settings, chapters)}")
    lines.append(f"{computed} of {rows.total()} judged rows ({share:.1%}) rest on no stored value")
    return lines


def judged_rows(settings: Settings, chapters: Sequence[Chapter]) -> list[Claim]:
    """Return the rows of chapters that the ledger judges."""
    every = read_chapters(settings.root, read_toc(settings.root))
    claims = read_claims(settings.root, [chapter.name for chapter in every])
    names = {chapter.name for chapter in chapters}
    return [claim for claim in claims if claim.chapter in names and claim.expectation is not None]


def _whole(settings: Settings, chapters: Sequence[Chapter]) -> str:
    """Return the minutes of one core that all takes, each thing once, by how they are known."""
    read = {file for chapter in chapters for file in chapter.data}
    runs, measured = run_costs(settings.root), measured_costs(settings.root)
    parts = [*chapter_costs(settings, chapters).values()]
    parts += [run for file in read & runs.keys() for run in runs[file].values()]
    parts += [measured[file] for file in read & measured.keys()]
    minutes = {how: sum(p.seconds for p in parts if p.how == how) / 60 for how in CERTAIN}
    return ", ".join(f"{taken:.0f} min {how}" for how, taken in minutes.items() if taken)


def _base(file: str) -> str:
    return Path(file).name


def _compare(
    files: Sequence[str], settings: Settings, scratch: Settings, tell: Callable[[str], None]
) -> None:
    """Tell of each file how many of its runs came out as this repository has them stored."""
    stored, again = (
        {
            (run.file, run.entry.configuration): run.entry.result
            for run in stored_runs(each.root, sources(each))
        }
        for each in (settings, scratch)
    )
    for file in files:
        pairs = [(result, again.get(run)) for run, result in stored.items() if run[0] == file]
        equal = sum(not different({"": one}, {"": other}, 0.0) for one, other in pairs)
        tell(f"{file}: {equal} of {len(pairs)} runs as stored, to the bit")


def _copy(root: Path, target: Path, book: Book) -> None:
    """Copy what a build reads, without the stored runs: those that have been made there stay."""
    listed = (how.requirements for how in book.measured.values() if how.requirements)
    there = (name for name in (*WHERE_THERE, *listed) if (root / name).exists())
    for name in (*COPIED, *there):
        if (root / name).is_dir():
            shutil.rmtree(target / name, ignore_errors=True)
            shutil.copytree(root / name, target / name, ignore=CACHES)
        elif (root / name).is_file():
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target / name)
        else:
            raise BookError(f"There is no {name} here: run this from the root of the repository.")
    for path in (path for path in (root / DATA).rglob("*") if path.is_file()):
        name = path.relative_to(root).as_posix()
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if name not in book.stored_runs:
            shutil.copy2(path, target / name)
        elif not (target / name).is_file():  # chapters that are not executed name it too
            write_whole(target / name, written([]).encode())
