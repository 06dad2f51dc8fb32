"""Stored runs: their registry, which of them are current, and how a file is completed."""

import importlib
import signal
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bookbuild.errors import BookError
from bookbuild.reporting.provenance import commit, versions
from bookbuild.results import cache
from bookbuild.results.keys import code_of
from bookbuild.results.machine import gpu, machine_name, pin
from bookbuild.results.snapshot import SOURCES, sources
from bookbuild.results.store import Store, write_whole
from bookbuild.settings import BuildSettings
from bookbuild.source.book import read_book
from bookbuild.source.chapters import Chapter


class File:
    """A file of stored runs below a folder, its declaration, and the code of the sources there."""

    def __init__(self, file: str, root: Path, src: Path) -> None:
        """Read a file that the book below `root` registers; `src` is the folder of its code.

        Raises:
            BookError: with a sentence, where the file is damaged or has other runs.
        """
        book = read_book(root)
        self.file, self.path = file, root / file
        self.records = book.runner("records")
        self.runs = importlib.import_module(book.stored_runs[file]).RUNS
        function = self.runs.function
        self.code = code_of(function.__module__, function.__qualname__, src)
        self.entries: dict[Any, Any] = {}
        if self.path.is_file():
            try:
                text = self.path.read_text(encoding="utf-8")
                self.entries = {entry.configuration: entry for entry in self.runs.entries(text)}
            except (OSError, ValueError) as error:
                raise BookError(f"{self.path}: {error}.") from error

    @property
    def earlier(self) -> int:
        """How many runs other code made than today's, as far as the file says."""
        return sum(entry.code != self.code for entry in self.entries.values())

    @property
    def lacking(self) -> list[Any]:
        """The declared configurations of which today's code has made no run, in their order."""
        made = {cell for cell, entry in self.entries.items() if entry.code == self.code}
        return [cell for cell in self.runs.cells if cell not in made]

    def seeds(self, *, current: bool = False) -> set[int]:
        """The seeds of its runs, or only of those that today's code has made."""
        runs = self.entries.items()
        of = [cell for cell, entry in runs if not current or entry.code == self.code]
        return set().union(*map(self.records.seeds_of, of))

    def keep(self, entry: Any) -> None:
        """Write the file with a run, in the declared order; what is no longer declared goes."""
        entries = self.entries | {entry.configuration: entry}
        self.entries = {cell: entries[cell] for cell in self.runs.cells if cell in entries}
        write_whole(self.path, self.records.written(self.entries.values()).encode())


class Recording(Executor):
    """An executor that passes each finished run to a function before the sweep receives it."""

    def __init__(self, pool: Executor, finished: Callable[..., None]) -> None:
        self._pool, self._finished = pool, finished

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have the pool call `fn`, the second argument of which is the configuration."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()

        def hand_over(done: Future[Any]) -> None:
            try:
                result, seconds, machine = done.result()
                self._finished(args[1], result, seconds, machine)
                future.set_result(result)
            except BaseException as error:  # whatever it is, the sweep has to receive it
                future.set_exception(error)

        self._pool.submit(_timed, fn, *args, **kwargs).add_done_callback(hand_over)
        return future


def _timed(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, float | None, str]:
    begun, before = time.process_time(), cache.taken_up
    result = fn(*args, **kwargs)
    whole = cache.taken_up == before
    return result, round(time.process_time() - begun, 1) if whole else None, machine_name()


def file_of(name: str, root: Path) -> str:
    """Return the file of stored runs with a name; raise BookError where the book has none."""
    files = {Path(file).stem: file for file in read_book(root).stored_runs}
    if name not in files:
        names = ", ".join(sorted(files)) or "none"
        raise BookError(f"There are no stored runs called {name!r}; the known names are: {names}.")
    return files[name]


def run_stored(
    name: str,
    settings: BuildSettings,
    minutes: int = 0,
    *,
    new: bool = False,
) -> list[Any]:
    """Compute what a file of stored runs lacks, for so many minutes or to the end; return the rest.

    With `new`, a run that earlier code made is not lacking. Each run is written when it ends.
    Raises BookError where one fails, once all others have ended.
    """
    import torch

    root, src = settings.root, sources(settings)
    book = read_book(root)
    file, computed = File(file_of(name, root), root, src), 0
    Store(settings.results).check()
    attached = book.runner("cache").attached
    wanted = [cell for cell in file.lacking if not (new and cell in file.entries)]
    threads, begun = torch.get_num_threads(), time.monotonic()
    made_at, of = commit(root, below=SOURCES), versions(file.runs.packages)

    def keep(configuration: Any, result: Any, seconds: float | None, machine: str | None) -> None:
        nonlocal computed
        date = datetime.now(UTC).isoformat(timespec="seconds")
        file.keep(
            file.records.Entry(
                configuration, file.code, made_at, machine, of, seconds, date, result
            )
        )
        computed += machine is not None
        print(f"{name}: {len(wanted) - len(file.lacking)} of {len(wanted)} runs", flush=True)

    torch.set_num_threads(settings.jobs)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(60 * minutes)
    try:
        store = cache.StoredCache.ordered(cache.order_of(settings, {}))
        if settings.device == "cuda" and file.runs.together:
            pin(settings.device)
            machine = f"{machine_name()}, {gpu()}"
            with attached(store):
                for configuration, result in file.runs.together(wanted, torch.device("cuda")):
                    keep(configuration, result, None, machine)
            return []
        with attached(store), book.runner("executors").default_executor() as pool:
            results = book.runner("sweep").run(
                file.runs.bound(root), wanted, Recording(pool, keep), label=name
            )
        for configuration, result in zip(wanted, results, strict=True):
            if configuration in file.lacking:  # the cache had it
                keep(configuration, result, None, None)
    except KeyboardInterrupt:
        if not minutes or signal.alarm(0):  # the time is not up
            raise
    except Exception as error:  # whatever a run may raise: a sentence has to name it
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        raise BookError(
            f"{type(error).__name__}: {error}{notes}",
            "The stored runs are not complete: run the command again to continue; what is "
            "finished is kept.",
        ) from error
    finally:
        signal.alarm(0)
        torch.set_num_threads(threads)
    print(f"{computed} runs computed in {time.monotonic() - begun:.0f} s")
    return [cell for cell in file.lacking if cell in wanted]


def remark(chapter: Chapter, settings: BuildSettings) -> str:
    """Return a sentence on stored runs of a chapter that earlier code made; empty without any."""
    registered = read_book(settings.root).stored_runs
    names = [name for name in chapter.data if name in registered]
    files = [File(name, settings.root, sources(settings)) for name in names]
    earlier, count = sum(file.earlier for file in files), sum(len(file.entries) for file in files)
    if not earlier:
        return ""
    return (
        f"Of the {count} stored runs of this chapter, {earlier} {'was' if earlier == 1 else 'were'}"
        " made by earlier code or by code that was not recorded."
    )
