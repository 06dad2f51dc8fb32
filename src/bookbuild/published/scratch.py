"""Everything computed from nothing, stored runs included, in a folder of its own."""

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from bookbuild.errors import BookError, raise_if_any
from bookbuild.execution.display import Display
from bookbuild.execution.runs import File, StoredRun, stored_runs
from bookbuild.execution.sweeps import run_stored
from bookbuild.ledger.claims import read_claims
from bookbuild.pipeline import renew_book
from bookbuild.reporting.provenance import versions
from bookbuild.results.contents import different
from bookbuild.results.snapshot import sources
from bookbuild.settings import Settings
from bookbuild.site.stamp import Told
from bookbuild.source.book import Book, Measured, read_book
from bookbuild.source.chapters import read_chapters, read_toc

from .costs import UNKNOWN, chapter_costs
from .remeasured import measure_again

FOLDER = "_build/scratch"
COPIED = ("src", "book", "data", "_toc.yml", "_config.yml", "CITATION.cff")
WHERE_THERE = ("tools", "proofs")  # what commands read that measure files of data


def reproduce_from_scratch(
    settings: Settings, display: Display, tell: Callable[[str], None]
) -> tuple[Told, Settings]:
    """Compute every stored run, measured file and chapter anew; return what was told, and where.

    What is finished is kept there, so a second call goes on where the first was stopped. Raises
    BookError where something fails or what a run or a measurement needs is not installed.
    """
    runs = list(stored_runs(settings.root, sources(settings)))
    for line in costs(settings, runs):
        tell(line)
    files = list(dict.fromkeys(run.file for run in runs))
    raise_if_any(
        f"The runs of {Path(name).stem} need {', '.join(packages)}: make env EXTRAS=language."
        for name in files
        for packages in [File(name, settings.root, sources(settings)).runs.packages]
        if len(versions(packages)) <= len(packages)
    )
    scratch = replace(settings, root=settings.root / FOLDER, published=None)
    book = read_book(settings.root)
    _copy(settings.root, scratch.root, book)
    measured = _measured(settings.root)
    early = {file: how for file, how in measured.items() if not how.last}
    measure_again(early, scratch.root, tell)
    for name in files:
        left = run_stored(Path(name).stem, scratch, None)
        raise_if_any([f"{len(left)} runs of {name} are left."] if left else [])
    again = {
        (run.file, run.entry.configuration): run.entry.result
        for run in stored_runs(scratch.root, sources(scratch))
    }
    for name in files:
        entries = [run.entry for run in runs if run.file == name]
        pairs = [(x.result, again.get((name, x.configuration))) for x in entries]
        equal = sum(not different({"": one}, {"": other}, 0.0) for one, other in pairs)
        tell(f"{name}: {equal} of {len(pairs)} runs as stored, to the bit")
    late = {file: how for file, how in measured.items() if how.last}
    measure_again(late, scratch.root, tell)
    return renew_book(scratch, display, tell), scratch


def costs(settings: Settings, runs: list[StoredRun]) -> list[str]:
    """Return lines about what everything takes, by the record of this repository, row by row."""
    chapters = read_chapters(settings.root, read_toc(settings.root))
    seconds = chapter_costs(settings, chapters)
    claims = read_claims(settings.root, [chapter.name for chapter in chapters])
    rows = Counter(claim.chapter for claim in claims if claim.expectation is not None)
    measured = _measured(settings.root)
    lines, computed = [], 0
    for chapter in chapters:
        read = [run for run in runs if settings.root / run.file in chapter.data]
        again = [file for file in measured if settings.root / file in chapter.data]
        known = {settings.root / name for name in (*again, *(run.file for run in read))}
        minutes = seconds[chapter.name] / 60 + sum(measured[file].minutes for file in again)
        lines.append(f"{chapter.name}: {rows[chapter.name]} judged rows, {minutes:.1f} min")
        lines[-1] += f" with {', '.join(Path(file).name for file in again)}" if again else ""
        lines[-1] += f", and {_taken(read)}" if read else ""
        other = [x.name for x in chapter.data if x.suffix == ".json" and x not in known]
        lines[-1] += f"; it reads {', '.join(other)}, which is not computed here" if other else ""
        computed += 0 if other else rows[chapter.name]
    whole = sum(seconds.values()) / 60 + sum(how.minutes for how in measured.values())
    lines.append(f"all {rows.total()} judged rows: {whole:.0f} min, and {_taken(runs)}")
    share = computed / max(1, rows.total())
    lines.append(f"{computed} of {rows.total()} judged rows ({share:.1%}) rest on no stored value")
    return lines


def _taken(runs: Sequence[StoredRun]) -> str:
    """Return what runs take by their records, and of how many there is none."""
    known = [run.entry.seconds for run in runs if run.entry.seconds is not None]
    text = f"{len(runs)} stored runs, {sum(known) / 60:.0f} core-minutes on record"
    unknown = len(runs) - len(known)
    guess = f", {unknown} of them not timed, at {UNKNOWN / 60:.0f} min each a guess"
    return text + (f"{guess} of {unknown * UNKNOWN / 60:.0f}" if unknown else "")


def _measured(root: Path) -> dict[str, Measured]:
    """Return how the files below data that are measured are made, those that the book has."""
    declared = read_book(root).measured
    return {file: how for file, how in declared.items() if (root / file).is_file()}


def _copy(root: Path, target: Path, book: Book) -> None:
    """Copy what a build reads, without the stored runs that have not been made there."""
    ours = shutil.ignore_patterns("__pycache__", *(Path(file).name for file in book.stored_runs))
    listed = (how.requirements for how in book.measured.values() if how.requirements)
    there = (name for name in (*WHERE_THERE, *listed) if (root / name).exists())
    for name in (*COPIED, *there):
        if (root / name).is_dir():
            shutil.copytree(root / name, target / name, ignore=ours, dirs_exist_ok=True)
        elif (root / name).is_file():
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target / name)
        else:
            raise BookError(f"There is no {name} here: run this from the root of the repository.")
