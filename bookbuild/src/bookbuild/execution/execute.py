"""Execution of chapters in parallel, each in its own process, with their results kept."""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nbformat
import psutil

from bookbuild.errors import BookError
from bookbuild.reporting import notebook, progress, provenance
from bookbuild.results import cache, executed
from bookbuild.results.code.definitions import reached_by_cells
from bookbuild.results.machine import gpu, machine_name
from bookbuild.results.snapshot import sources
from bookbuild.results.store import reason, write_whole
from bookbuild.settings import Settings
from bookbuild.source.book import read_book
from bookbuild.source.chapters import BOOK, Chapter

from .display import Display
from .fork_server import ForkServer
from .worker import END_FILE, ENTRY, GPU_FILE, INPUT_FILE, KERNEL, LOG_FILE, ORDER_FILE

COMMAND = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
SPEC = {"argv": COMMAND, "display_name": "Python 3", "language": "python"}
TELL_VERSIONS = """import json, bookbuild.reporting.provenance as told, pathlib
pathlib.Path({!r}).write_text(json.dumps(told.versions())); del json, pathlib, told
"""
LONGEST = 78  # bytes of a folder for sockets, whose paths may have 103 on macOS
TELL_USAGE = "from bookbuild.results.machine import tell_usage; tell_usage({!r}); del tell_usage\n"
VERSIONS_FILE = "versions.json"
ASKED_FILE = "asked.txt"
PROGRESS_FILE = "progress.jsonl"
SECONDS_BETWEEN_LOOKS = 0.1


def execute_chapters(
    wanted: Sequence[tuple[Chapter, str]], settings: Settings, display: Display
) -> tuple[dict[str, executed.Entry], list[str]]:
    """Execute chapters, each with its key; return the entries by chapter and the failures.

    The chapters that took longest before, or declare so, start first. An exception, an interrupt
    among them, kills what is running; finished chapters stay in the store.
    """
    seconds = executed.earlier_seconds(settings)
    longest = sorted(wanted, key=lambda pair: -seconds.get(pair[0].name, 60 * pair[0].minutes))
    code = (cell.source for chapter, _ in wanted for cell in chapter.code)
    packages = reached_by_cells(code, sources(settings)).packages
    placed = {s.threads_each: s for s in (chapter.placed(settings) for chapter, _ in wanted)}
    servers = {threads: ForkServer(packages, of_it) for threads, of_it in placed.items()}
    entries: dict[str, executed.Entry] = {}
    failures: list[str] = []
    with ThreadPoolExecutor(settings.jobs) as pool:
        futures = {
            pool.submit(_execute, chapter, key, chapter.placed(settings), servers, display): chapter
            for chapter, key in longest
        }
        try:
            for future in as_completed(futures):
                try:
                    entries[futures[future].name] = future.result()
                except BookError as error:
                    failures += error.problems
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for server in servers.values():
                server.kill()
    return entries, failures


def _execute(
    chapter: Chapter,
    key: str,
    settings: Settings,
    servers: Mapping[int, ForkServer],
    display: Display,
) -> executed.Entry:
    """Execute a chapter and keep its outputs; raise BookError with a sentence where that fails."""
    folder = settings.running / f"{os.getpid()}-{chapter.name.replace('/', '-')}"
    server, entry = servers[settings.threads_each], None
    try:
        _order(chapter, folder, settings)
        server.fork(folder)
    except OSError as error:
        raise BookError(f"Chapter {chapter.name} cannot be started: {reason(error)}.") from error
    started = time.monotonic()
    display.start(chapter.name)
    try:
        while (code := server.code(folder)) is None:
            display.progress(chapter.name, _read(folder / PROGRESS_FILE))
            time.sleep(SECONDS_BETWEEN_LOOKS)
        used = {"seconds": round(time.monotonic() - started, 1)}
        end = _read(folder / END_FILE) or {"cause": f"its process ended with code {code}"}
        shutil.rmtree(settings.failed / chapter.name, ignore_errors=True)
        if "cause" in end:
            raise BookError(_failure(chapter, folder, settings, end))
        entry = _stored(chapter, key, folder, settings, used | end)
        return entry
    finally:
        display.done(chapter.name, time.monotonic() - started, failed=entry is None)
        shutil.rmtree(folder, ignore_errors=True)


def _order(chapter: Chapter, folder: Path, settings: Settings) -> None:
    """Write a chapter's notebook and its order, and what its kernel executes when it starts."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / ENTRY).mkdir(parents=True)
    nbformat.write(chapter.notebook, folder / INPUT_FILE)
    order = {
        "parameters": settings.parameters,
        "sockets": _folder_of_sockets(),
        "folder": str(sources(settings).parent),
        "timeout": settings.timeout,
        "environment": _environment(chapter, folder, settings),
    }
    startup, kernel = "ipython/profile_default/startup", f"jupyter/kernels/{KERNEL}"
    for name, text in {
        ORDER_FILE: json.dumps(order),
        f"{startup}/cache.py": cache.STARTUP,
        f"{startup}/versions.py": TELL_VERSIONS.format(str(folder / VERSIONS_FILE)),
        f"{startup}/usage.py": TELL_USAGE.format(str(folder / GPU_FILE)),
        f"{kernel}/kernel.json": json.dumps(SPEC),
    }.items():
        write_whole(folder / name, text.encode())


def _folder_of_sockets() -> str:
    """Return a folder whose path leaves room for names of sockets; BookError if there is none."""
    for folder in (tempfile.gettempdir(), "/tmp", "/var/tmp"):
        if len(os.fsencode(folder)) <= LONGEST and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise BookError(f"TMPDIR must name a folder of at most {LONGEST} characters, for sockets.")


def _environment(chapter: Chapter, folder: Path, settings: Settings) -> dict[str, str]:
    """Return what a chapter finds in its environment beside what all do."""
    origin = {"chapter": chapter.name, **settings.parameters}
    asked = {"asked": str(folder / ASKED_FILE)}
    up = "../" * len(Path(BOOK, chapter.name).parent.parts)
    return {
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_PATH": str(folder / "jupyter"),  # before a user's kernels
        notebook.OUTPUT: str(folder / ENTRY),
        notebook.SALT: read_book(settings.root).package,
        notebook.FIGURES_URL: f"{up}{notebook.FIGURES_FOLDER}/{chapter.name}",
        progress.PROGRESS_FILE: str(folder / PROGRESS_FILE),
        provenance.COMMIT: provenance.commit(settings.root),
        provenance.DEVICE: settings.device,
        cache.ORDER: json.dumps(cache.order_of(settings, origin) | asked),
    }


def _read(path: Path) -> dict[str, Any]:
    """Return what the last line of a file says in JSON; nothing where there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8").splitlines()[-1])
    except (OSError, ValueError, IndexError):
        return {}


def _failure(chapter: Chapter, folder: Path, settings: Settings, end: Mapping[str, Any]) -> str:
    """Return a sentence about a chapter that failed, once its remains are kept."""
    kept = settings.failed / chapter.name
    kept.mkdir(parents=True)
    for path in (folder / ENTRY / executed.NOTEBOOK_FILE, folder / LOG_FILE):
        if path.is_file():
            shutil.move(path, kept / path.name)
    cell = f", cell {end['cell']} ({end['line']})" if "cell" in end else ""
    where = kept.relative_to(settings.root)
    return f"Chapter {chapter.name}{cell} failed: {end['cause']}; see {where}."


def _stored(
    chapter: Chapter, key: str, folder: Path, settings: Settings, used: Mapping[str, float]
) -> executed.Entry:
    """Keep a chapter's outputs with their origin; raise BookError where that fails."""
    versions = _read(folder / VERSIONS_FILE)
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
        **used,
        "asked": _asked(folder / ASKED_FILE),
    }
    return executed.store(settings, key, origin, folder / ENTRY)


def _asked(path: Path) -> dict[str, list[str]]:
    """Return the keys of each task that a chapter asked for, by its fingerprint."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    asked: dict[str, list[str]] = {}
    for fingerprint, key in map(str.split, dict.fromkeys(text.splitlines())):
        asked.setdefault(fingerprint, []).append(key)
    return asked


def tidy(settings: Settings) -> None:
    """Remove what builds that were killed left behind; other builds may be running."""
    for folder in settings.running.glob("*-*"):
        owner = folder.name.partition("-")[0]
        if not (owner.isdecimal() and psutil.pid_exists(int(owner))):
            shutil.rmtree(folder, ignore_errors=True)
