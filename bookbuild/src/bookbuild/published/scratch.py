"""Computation of everything from scratch, including stored runs, in a separate folder.

Data files that a command measures are made again too, once from the same sources.
"""

import os
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bookbuild.costs import measured_files, row_costs
from bookbuild.errors import BookError, raise_if_any
from bookbuild.execution.display import Display, Tell
from bookbuild.execution.runs import File, run_stored
from bookbuild.ledger.claims import read_claims
from bookbuild.pipeline import Result, build_book
from bookbuild.processes import ran, sources_first
from bookbuild.reporting.provenance import versions
from bookbuild.results.keys import digest, sha256_of
from bookbuild.results.snapshot import sources
from bookbuild.results.store import write_whole
from bookbuild.settings import BuildSettings
from bookbuild.source.book import read_book
from bookbuild.source.chapters import Chapter, read_chapters, read_toc

from .verify import different

FOLDER = "_build/scratch"
READ = ("src", "tools", "proofs")  # the folders that commands read which measure files
MADE = "_build/made"  # what was measured, under the digest of what made it


def reproduce_from_scratch(
    settings: BuildSettings, display: Display, tell: Tell
) -> tuple[Result, BuildSettings]:
    """Compute what the book's chapters read and the book anew; return what was found, and where.

    A second call goes on where the first was stopped. Raises BookError where something fails.
    """
    scratch = recompute(settings, read_chapters(settings.root, read_toc(settings.root)), tell)
    return build_book(scratch, display, tell), scratch


def recompute(settings: BuildSettings, chapters: Sequence[Chapter], tell: Tell) -> BuildSettings:
    """Compute anew the stored runs and measured files that chapters read; return where they lie."""
    for line in costs_by_chapter(settings, chapters):
        tell(line)
    book, read = read_book(settings.root), {file for x in chapters for file in x.data}
    measured = {file: how for file, how in measured_files(settings.root).items() if file in read}
    # what is measured last executes every chapter, so it needs every run
    wanted = book.stored_runs if any(how.get("last") for how in measured.values()) else read
    names = [x for x in book.stored_runs if x in wanted and (settings.root / x).is_file()]
    files = {name: File(name, settings.root, sources(settings)) for name in names}
    raise_if_any(
        f"The runs of {Path(name).stem} need {', '.join(file.runs.packages)}: install them first."
        for name, file in files.items()
        if len(versions(file.runs.packages)) <= len(file.runs.packages)
    )
    scratch = replace(settings, root=settings.root / FOLDER, published=None)
    _copy(settings.root, scratch.root, book.stored_runs)
    for name, file in files.items():
        if left := run_stored(Path(name).stem, scratch):
            raise BookError(
                f"{len(left)} runs of {name} are not finished: run the command again to continue."
            )
        again = File(name, scratch.root, sources(scratch)).entries
        equal = sum(
            run in again and not different(entry.result, again[run].result, 0.0)
            for run, entry in file.entries.items()
        )
        tell(f"{name}: {equal} of {len(file.entries)} runs as stored, to the bit")
    measure_again(measured, scratch.root, tell)
    return scratch


def costs_by_chapter(settings: BuildSettings, chapters: Sequence[Chapter]) -> Iterator[str]:
    """Yield lines about what chapters take from nothing, and on what their judged rows rest."""
    every = [chapter.name for chapter in read_chapters(settings.root, read_toc(settings.root))]
    claims = read_claims(settings.root, every)
    rows = Counter(claim.chapter for claim in claims if claim.expectation)
    costs, resting = row_costs(settings, chapters), 0
    for chapter in chapters:
        name, (seconds, how) = chapter.name, costs[chapter.name]
        line = f"{name}: {rows[name]} judged rows, {seconds / 60:.1f} min {how}"
        if stored := not_computed(chapter, settings.root):
            resting += rows[name]
            line += f"; it reads {', '.join(stored)}, which nothing computes here"
        yield line
    total, minutes = sum(rows[name] for name in costs), sum(x.seconds for x in costs.values()) / 60
    yield (
        f"in all at most {minutes:.0f} min of one core; {total - resting} of {total} judged "
        "rows rest on no stored value"
    )


def not_computed(chapter: Chapter, root: Path) -> list[str]:
    """Return the results that a chapter reads and nothing makes, by the paths of their files."""
    made = {*read_book(root).stored_runs, *measured_files(root)}
    return [file for file in chapter.data if file.endswith(".json") and file not in made]


def _copy(root: Path, target: Path, stored_runs: Collection[str]) -> None:
    """Copy a book, without its stored runs: those that have been made there stay."""
    for path in target.glob("[!_.]*/"):
        if path.name != "data":
            shutil.rmtree(path)

    def copy(source: str, place: str) -> None:
        if Path(source).relative_to(root).as_posix() not in stored_runs:
            shutil.copy2(source, place)
        elif not Path(place).is_file():  # chapters that are not executed name it too
            write_whole(Path(place), b"[]")

    ignore = shutil.ignore_patterns("__pycache__", "_build", ".*")
    shutil.copytree(root, target, copy_function=copy, ignore=ignore, dirs_exist_ok=True)


def measure_again(measured: Mapping[str, Mapping[str, Any]], root: Path, tell: Tell) -> None:
    """Make each file anew that these sources have not made yet, and put all of them in place.

    `measured` says how each file is made, by its path, in the order in which they are made; `root`
    is a copy of the book, whose data are overwritten. Raises BookError with the last line that a
    command said, where it fails or writes nothing.
    """
    for file, how in measured.items():
        copy = root / MADE / f"{_digest(how, root)}.{Path(file).name}"
        if not copy.is_file():
            tell(f"{file}: {how['command']}")
            os.utime(root / file, (0, 0))  # which a command changes that writes it
            _run(file, how, root)
            if not (root / file).stat().st_mtime:
                raise BookError(f"{file} cannot be made: {how['command']} does not write it.")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / file, copy)
        shutil.copy2(copy, root / file)


def _run(file: str, how: Mapping[str, Any], root: Path) -> None:
    environment = sources_first(root / "src")
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = ran(shlex.split(how["command"]), cwd=root, env=environment)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["its command said nothing"]
        reason = said[-1].removeprefix("Error: ").rstrip(".")
        raise BookError(f"{file} cannot be made: {reason}.")


def _digest(how: Mapping[str, Any], root: Path) -> str:
    paths = (path for name in READ for path in (root / name).rglob("*"))
    files = [path for path in paths if path.is_file() and path.suffix != ".pyc"]
    read = {path.relative_to(root).as_posix(): sha256_of(path) for path in files}
    return digest({"command": how["command"], "read": read})
