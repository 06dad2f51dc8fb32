"""Execution of chapters in parallel, each in its own process, with their results kept."""

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import psutil

from bookbuild.errors import BookError
from bookbuild.reporting import notebook, progress, provenance
from bookbuild.results import cache, executed
from bookbuild.results.machine import gpu, machine_name
from bookbuild.results.snapshot import sources
from bookbuild.results.store import reason, write_whole
from bookbuild.settings import Settings
from bookbuild.source.book import read_book
from bookbuild.source.chapters import BOOK, Chapter

from .display import Display
from .fork_server import ForkServer, ForkServers
from .worker import LOG_FILE, ORDER_FILE

KERNEL = "python3"
COMMAND = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
SPEC = {"argv": COMMAND, "display_name": "Python 3", "language": "python"}
TELL_VERSIONS = """import json, bookbuild.reporting.provenance as told, pathlib
pathlib.Path({!r}).write_text(json.dumps(told.versions())); del json, pathlib, told
"""
LONGEST = 78  # bytes of a folder for sockets, whose paths may have 103 on macOS
FAILURE_FILE = "failure.json"
TELL_USAGE = "from bookbuild.results.machine import tell_usage; tell_usage({!r}); del tell_usage\n"
USAGE_FILE = "usage.json"
GPU_FILE = "gpu.json"
VERSIONS_FILE = "versions.json"
ASKED_FILE = "asked.txt"
SECONDS_BETWEEN_LOOKS = 0.1


@dataclass
class Run:
    """A chapter that is being executed."""

    chapter: Chapter
    key: str
    folder: Path
    server: ForkServer
    started: float = field(default_factory=time.monotonic)

    @property
    def code(self) -> int | None:
        """The code with which the chapter's process ended, or None while it runs."""
        return self.server.code(self.folder)

    @property
    def output(self) -> Path:
        """The folder of what becomes the chapter's entry."""
        return self.folder / "entry"

    def progress(self) -> dict[str, object] | None:
        """Return the newest progress record, if there is one."""
        try:
            lines = (self.folder / "progress.jsonl").read_text(encoding="utf-8").splitlines()
            return json.loads(lines[-1])
        except (OSError, ValueError, IndexError):
            return None


def execute_chapters(
    wanted: Sequence[tuple[Chapter, str]], settings: Settings, display: Display
) -> tuple[dict[str, executed.Entry], list[str]]:
    """Execute chapters, each with its key; return the entries by chapter and the failures.

    The chapters that took longest before, or declare so, start first. An exception, an interrupt
    among them, kills what is running; finished chapters stay in the store.
    """
    seconds = executed.earlier_seconds(settings)
    waiting = sorted(wanted, key=lambda pair: -seconds.get(pair[0].name, 60 * pair[0].minutes))
    running: list[Run] = []
    servers = ForkServers(wanted, settings)
    entries: dict[str, executed.Entry] = {}
    failures: list[str] = []
    try:
        while waiting or running:
            while waiting and len(running) < settings.jobs:
                chapter, key = waiting.pop(0)
                try:
                    running.append(_start(chapter, key, settings, servers))
                except OSError as error:
                    failures.append(f"Chapter {chapter.name} cannot be started: {reason(error)}.")
                    continue
                display.start(chapter.name)
            for run in [run for run in running if run.code is not None]:
                running.remove(run)
                elapsed = time.monotonic() - run.started
                failure = _failure(run, settings)
                if not failure:
                    try:
                        entries[run.chapter.name] = _finish(run, settings, elapsed)
                    except BookError as error:
                        failure = str(error)
                if failure:
                    failures.append(failure)
                display.done(run.chapter.name, elapsed, failed=bool(failure))
            for run in running:
                display.progress(run.chapter.name, run.progress())
            time.sleep(SECONDS_BETWEEN_LOOKS)
    finally:
        servers.kill()
        for run in running:
            shutil.rmtree(run.folder, ignore_errors=True)
    return entries, failures


def _folder_of_sockets() -> str:
    """Return a folder whose path leaves room for names of sockets; BookError if there is none."""
    for folder in (tempfile.gettempdir(), "/tmp", "/var/tmp"):
        if len(os.fsencode(folder)) <= LONGEST and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise BookError(f"TMPDIR must name a folder of at most {LONGEST} characters, for sockets.")


def _start(chapter: Chapter, key: str, settings: Settings, servers: ForkServers) -> Run:
    """Write a chapter's notebook and its order, and have its process started."""
    settings = chapter.placed(settings)
    folder = settings.running / f"{os.getpid()}-{chapter.name.replace('/', '-')}"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "entry").mkdir(parents=True)
    nbformat.write(chapter.notebook, folder / "input.ipynb")
    order = {
        "input": str(folder / "input.ipynb"),
        "output": str(folder / "entry" / executed.NOTEBOOK_FILE),
        "failure": str(folder / FAILURE_FILE),
        "usage": str(folder / USAGE_FILE),
        "gpu": str(folder / GPU_FILE),
        "parameters": settings.parameters,
        "kernel": KERNEL,
        "sockets": _folder_of_sockets(),
        "folder": str(sources(settings).parent),
        "timeout": settings.timeout,
        "environment": _environment(chapter, folder, settings),
    }
    (folder / ORDER_FILE).write_text(json.dumps(order), encoding="utf-8")
    startup, kernel = "ipython/profile_default/startup", f"jupyter/kernels/{KERNEL}"
    for name, text in {
        f"{startup}/cache.py": cache.STARTUP,
        f"{startup}/versions.py": TELL_VERSIONS.format(str(folder / VERSIONS_FILE)),
        f"{startup}/usage.py": TELL_USAGE.format(str(folder / GPU_FILE)),
        f"{kernel}/kernel.json": json.dumps(SPEC),
    }.items():
        write_whole(folder / name, text.encode())
    server = servers.of(settings)
    server.fork(folder)
    return Run(chapter, key, folder, server)


def _environment(chapter: Chapter, folder: Path, settings: Settings) -> dict[str, str]:
    """Return what a chapter finds in its environment beside what all do."""
    origin = {"chapter": chapter.name, **settings.parameters}
    up = "../" * len(Path(BOOK, chapter.name).parent.parts)
    return {
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_PATH": str(folder / "jupyter"),  # before a user's kernels
        notebook.OUTPUT: str(folder / "entry"),
        notebook.SALT: read_book(settings.root).package,
        notebook.FIGURES_URL: f"{up}{notebook.FIGURES_FOLDER}/{chapter.name}",
        progress.PROGRESS_FILE: str(folder / "progress.jsonl"),
        provenance.COMMIT: provenance.commit(settings.root),
        provenance.DEVICE: settings.device,
        cache.ORDER: json.dumps(
            cache.order_of(settings, origin) | {"asked": str(folder / ASKED_FILE)}
        ),
    }


def _failure(run: Run, settings: Settings) -> str:
    """Return a sentence about a failed chapter and keep its remains, or nothing."""
    kept = settings.failed / run.chapter.name
    shutil.rmtree(kept, ignore_errors=True)
    # A dead kernel leaves a notebook that claims to be complete: the return code alone counts.
    if run.code == 0:
        return ""
    kept.mkdir(parents=True)
    for path in (run.output / executed.NOTEBOOK_FILE, run.folder / LOG_FILE):
        if path.is_file():
            shutil.move(path, kept / path.name)
    try:
        told = json.loads((run.folder / FAILURE_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        told = {"cause": f"its process ended with code {run.code}"}
    shutil.rmtree(run.folder, ignore_errors=True)
    cell = f", cell {told['cell']} ({told['line']})" if "cell" in told else ""
    where = kept.relative_to(settings.root)
    return f"Chapter {run.chapter.name}{cell} failed: {told['cause']}; see {where}."


def _finish(run: Run, settings: Settings, seconds: float) -> executed.Entry:
    """Keep a chapter's outputs with their origin; raise BookError where that fails."""
    settings = run.chapter.placed(settings)
    said = run.folder / VERSIONS_FILE
    told = json.loads(said.read_text(encoding="utf-8")) if said.is_file() else {}
    if told != provenance.versions():
        raise BookError(f"Chapter {run.chapter.name} was executed by other versions: {told}.")
    path = run.output / executed.NOTEBOOK_FILE
    notebook = nbformat.read(path, as_version=4)
    for holder in (notebook, *notebook.cells):
        holder.metadata.pop("papermill", None)  # it names folders of this machine
    nbformat.write(notebook, path)
    origin = {
        "chapter": run.chapter.name,
        **settings.parameters,
        "commit": provenance.commit(settings.root),
        "versions": told,
        "machine": machine_name(),
        **({"gpu": gpu()} if settings.device == "cuda" else {}),
        "threads": settings.threads_each,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        **json.loads((run.folder / USAGE_FILE).read_text(encoding="utf-8")),
        "asked": _asked(run.folder / ASKED_FILE),
    }
    entry = executed.store(settings, run.key, origin, run.output)
    shutil.rmtree(run.folder, ignore_errors=True)
    return entry


def _asked(path: Path) -> dict[str, list[str]]:
    """Return the keys of each task that a chapter asked for, by its fingerprint."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    found: dict[str, list[str]] = {}
    for fingerprint, key in map(str.split, dict.fromkeys(text.splitlines())):
        found.setdefault(fingerprint, []).append(key)
    return found


def tidy(settings: Settings) -> None:
    """Remove what builds that were killed left behind; other builds may be running."""
    for folder in settings.running.glob("*-*"):
        owner = folder.name.partition("-")[0]
        if not (owner.isdecimal() and psutil.pid_exists(int(owner))):
            shutil.rmtree(folder, ignore_errors=True)
