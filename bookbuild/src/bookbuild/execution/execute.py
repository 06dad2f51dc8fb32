"""Execution of chapters in parallel, each in its own kernel, with their results kept."""

import json
import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nbformat
import psutil

from bookbuild.errors import BookError
from bookbuild.reporting import notebook, progress, provenance
from bookbuild.results import cache, executed
from bookbuild.results.keys import reached_by_cells
from bookbuild.results.machine import gpu, machine_name
from bookbuild.results.snapshot import sources
from bookbuild.results.store import reason, write_whole
from bookbuild.settings import BuildSettings
from bookbuild.source.book import read_book
from bookbuild.source.chapters import BOOK, Chapter

from . import kernel
from .display import Display
from .fork_server import ForkServer

DIE_ALONG = "from bookbuild.processes import die_with_parent as die; die({}); del die\n"
TELL_USAGE = "from bookbuild.results.machine import tell_usage as tell; tell{!r}; del tell\n"
ENTRY = "entry"  # the folder of what becomes the chapter's entry
LOG_FILE = "log.txt"
USAGE_FILE = "usage.json"
ASKED_FILE = "asked.txt"
PROGRESS_FILE = "progress.jsonl"
EXPRESSION = re.compile(r"expression (\d+)")
SECONDS_BETWEEN_LOOKS = 0.1


def execute_chapters(
    wanted: Sequence[tuple[Chapter, str]], settings: BuildSettings, display: Display
) -> tuple[dict[str, executed.ExecutedChapter], list[str]]:
    """Execute chapters, each with its key; return the entries by chapter and the failures.

    The chapters that declare to take longest start first. An exception, an interrupt among them,
    kills what is running; finished chapters stay in the store.
    """
    if not wanted:
        return {}, []
    longest = sorted(wanted, key=lambda pair: -pair[0].minutes)
    code = (cell.source for chapter, _ in wanted for cell in chapter.code)
    server = ForkServer(reached_by_cells(code, sources(settings)).packages, settings)
    entries: dict[str, executed.ExecutedChapter] = {}
    failures: list[str] = []
    with ThreadPoolExecutor(settings.jobs) as pool:
        futures = {
            pool.submit(
                _execute, chapter, key, chapter.placed(settings), server, display
            ): chapter.name
            for chapter, key in longest
        }
        running = {*futures}
        try:
            while running:
                ended, running = wait(running, SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED)
                for name in map(futures.__getitem__, running):
                    display.progress(name, _read(_folder(name, settings) / PROGRESS_FILE))
                for future in ended:
                    try:
                        entries[futures[future]] = future.result()
                    except BookError as error:
                        failures += error.problems
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            server.kill()
    return entries, failures


def _execute(
    chapter: Chapter, key: str, settings: BuildSettings, server: ForkServer, display: Display
) -> executed.ExecutedChapter:
    """Execute a chapter and keep its outputs; raise BookError with a sentence where that fails."""
    folder, entry, started = _folder(chapter.name, settings), None, time.monotonic()
    try:
        _prepare(folder, server.pid, read_book(settings.root).running)
    except OSError as error:
        raise BookError(f"Chapter {chapter.name} cannot be started: {reason(error)}.") from error
    display.start(chapter.name)
    try:
        files = (folder / ENTRY / executed.NOTEBOOK_FILE, folder / LOG_FILE)
        given = _environment(chapter, folder, settings)
        failure = kernel.execute(chapter.executable, *files, server, given, settings)
        seconds = round(time.monotonic() - started, 1)
        shutil.rmtree(settings.failed / chapter.name, ignore_errors=True)
        if failure:
            raise BookError(_failure(chapter, files, settings, failure))
        entry = _stored(chapter, key, folder, settings, seconds)
        return entry
    finally:
        display.done(chapter.name, time.monotonic() - started, failed=entry is None)
        shutil.rmtree(folder, ignore_errors=True)


def _folder(name: str, settings: BuildSettings) -> Path:
    return settings.running / f"{os.getpid()}-{name.replace('/', '-')}"


def _prepare(folder: Path, server: int, running: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / ENTRY).mkdir(parents=True)
    along = DIE_ALONG.format(server)
    usage = TELL_USAGE.format((str(folder / USAGE_FILE), running))
    startup = f"{along}{cache.STARTUP}{usage}"
    write_whole(folder / "ipython/profile_default/startup/startup.py", startup.encode())


def _environment(chapter: Chapter, folder: Path, settings: BuildSettings) -> dict[str, str]:
    """Return what a chapter finds in its environment beside what all do."""
    origin = {"chapter": chapter.name, **settings.parameters}
    order = {"asked": str(folder / ASKED_FILE)}
    up, book = "../" * len(Path(BOOK, chapter.name).parent.parts), read_book(settings.root)
    return {
        "IPYTHONDIR": str(folder / "ipython"),
        notebook.OUTPUT: str(folder / ENTRY),
        notebook.SALT: book.package,
        notebook.FIGURES_URL: f"{up}{notebook.FIGURES_FOLDER}/{chapter.name}",
        progress.PROGRESS_FILE: str(folder / PROGRESS_FILE),
        progress.PROGRESS_LOGGER: f"{book.running}.progress",
        provenance.COMMIT: provenance.commit(settings.root),
        provenance.DEVICE: settings.device,
        cache.ORDER: json.dumps(cache.order_of(settings, origin) | order),
    }


def _read(path: Path) -> dict[str, Any]:
    """Return what the last line of a file says in JSON; nothing where there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8").splitlines()[-1])
    except (OSError, ValueError, IndexError):
        return {}


def _failure(
    chapter: Chapter, files: Sequence[Path], settings: BuildSettings, failure: Mapping[str, Any]
) -> str:
    """Return a sentence about a chapter that failed, once its remains are kept."""
    place = settings.failed / chapter.name
    place.mkdir(parents=True)
    for path in filter(Path.is_file, files):
        shutil.move(path, place / path.name)
    cell = f", cell {failure['cell']} ({failure['line']})" if "cell" in failure else ""
    if "prose" in failure and (number := EXPRESSION.search(failure["cause"])):
        cell = f", {chapter.quoted(settings.root, failure['prose'], int(number[1]))}:"
    where = place.relative_to(settings.root)
    return f"Chapter {chapter.name}{cell} failed: {failure['cause']}; see {where}."


def _stored(
    chapter: Chapter, key: str, folder: Path, settings: BuildSettings, seconds: float
) -> executed.ExecutedChapter:
    """Keep a chapter's outputs with their origin; raise BookError where that fails."""
    used, asked = _read(folder / USAGE_FILE), folder / ASKED_FILE
    keys: dict[str, list[str]] = {}  # of each task that the chapter asked for, by its fingerprint
    lines = asked.read_text(encoding="utf-8").splitlines() if asked.is_file() else []
    for fingerprint, task in map(str.split, dict.fromkeys(lines)):
        keys.setdefault(fingerprint, []).append(task)
    versions = used.pop("versions", None)
    if versions != provenance.versions():
        raise BookError(f"Chapter {chapter.name} was executed by other versions: {versions}.")
    path = folder / ENTRY / executed.NOTEBOOK_FILE
    notebook = nbformat.read(path, as_version=4)
    for holder in (notebook, *notebook.cells):
        holder.metadata.pop("papermill", None)  # it names folders of this machine
    nbformat.write(notebook, path)
    origin = {
        "chapter": chapter.name,
        **settings.parameters,
        "commit": provenance.commit(settings.root),
        "versions": versions,
        "machine": machine_name(),
        **({"gpu": gpu()} if settings.device == "cuda" else {}),
        "threads": settings.threads_each,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": seconds,
        **used,
        "asked": keys,
    }
    return executed.store(settings, key, origin, folder / ENTRY)


def tidy(settings: BuildSettings) -> None:
    """Remove what builds that were killed left behind; other builds may be running."""
    for folder in settings.running.glob("*-*"):
        owner = folder.name.partition("-")[0]
        if not (owner.isdecimal() and psutil.pid_exists(int(owner))):
            shutil.rmtree(folder, ignore_errors=True)
