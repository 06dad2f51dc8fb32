"""Stored runs: their registry, which of them are current, and how a file is completed."""

import importlib
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

from bookbuild.errors import BookError
from bookbuild.ledger.outcomes import RECORD, Runs, read_outcomes, replaced, text_of
from bookbuild.reporting.provenance import commit, versions
from bookbuild.results import cache
from bookbuild.results.keys import code_of, digest
from bookbuild.results.machine import machine_name
from bookbuild.results.snapshot import SOURCES, sources
from bookbuild.results.store import write_whole
from bookbuild.settings import Settings
from bookbuild.source.book import read_book
from bookbuild.source.chapters import Chapter
from running.records import Entry, StoredRuns, written


class File:
    """A file of stored runs below a folder, its declaration, and the code of the sources there."""

    def __init__(self, file: str, root: Path, src: Path) -> None:
        """Read a file that the book below `root` registers; `src` is the folder of its code.

        Raises:
            BookError: with a sentence, where the file is damaged or has other runs.
        """
        self.file, self.path = file, root / file
        self.runs: StoredRuns = importlib.import_module(read_book(root).stored_runs[file]).RUNS
        function = self.runs.function
        self.code = code_of(function.__module__, function.__qualname__, src)
        self.root, self.record = root, read_outcomes(root)
        self.entries: dict[Any, Entry] = {}
        if self.path.is_file():
            try:
                text = self.path.read_text(encoding="utf-8")
                found = self.runs.entries(text)
            except (OSError, ValueError) as error:
                raise BookError(f"{self.path}: {error}.") from error
            self._check(text)
            self.entries = {entry.configuration: entry for entry in found}

    @property
    def earlier(self) -> int:
        """How many runs other code made than today's, as far as the file says."""
        return sum(not self._current(cell) for cell in self.entries)

    @property
    def lacking(self) -> list[Any]:
        """The declared configurations of which today's code has made no run, in their order."""
        return [cell for cell in self.runs.cells if not self._current(cell)]

    def keep(self, entry: Entry) -> None:
        """Write the file with a run in its place; what is no longer declared goes."""
        declared = {*self.runs.cells}
        found = self.entries | {entry.configuration: entry}
        self.entries = {cell: run for cell, run in found.items() if cell in declared}
        text = written(self.entries.values())
        write_whole(self.path, text.encode())
        if (self.root / RECORD).is_file():
            known = self.record.runs.get(self.file)
            same = known.same if known and known.same[-1] == self.code else (self.code,)
            record = replaced(read_outcomes(self.root), [Runs(self.file, same, digests(text))])
            write_whole(self.root / RECORD, text_of(record).encode())

    def _check(self, text: str) -> None:
        """Raise BookError where the record has digests of other entries than the file holds."""
        known = self.record.runs.get(self.file)
        places = zip_longest(known.entries, digests(text)) if known else ()
        for place, (recorded, found) in enumerate(places, start=1):
            if recorded != found:
                raise BookError(
                    f"{self.file}, entry {place}: it was changed by hand, for {RECORD} has another "
                    "digest of it."
                )

    def _current(self, configuration: Any) -> bool:
        entry = self.entries.get(configuration)
        if entry is None or entry.code is None:
            return False
        return self.record.is_current(self.file, entry.code, self.code)


def digests(text: str) -> tuple[str, ...]:
    """Return a digest of each entry of a file of stored runs."""
    return tuple(map(digest, json.loads(text)))


class Recording(Executor):
    """An executor that passes each finished run to a function before the sweep receives it."""

    def __init__(self, pool: Executor, kinds: tuple[type, ...], finished: Callable[..., None]):
        self._pool, self._kinds, self._finished = pool, kinds, finished

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have the pool call the function; one argument of it is the configuration."""
        (configuration,) = (each for each in args if isinstance(each, self._kinds))
        told: Future[Any] = Future()
        told.set_running_or_notify_cancel()

        def hand_over(done: Future[Any]) -> None:
            try:
                result, seconds, where = done.result()
                self._finished(configuration, result, seconds, where)
            except BaseException as error:  # whatever it is, the sweep has to receive it
                told.set_exception(error)
            else:
                told.set_result(result)

        self._pool.submit(_timed, fn, *args, **kwargs).add_done_callback(hand_over)
        return told


def _timed(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, float | None, str]:
    """Return what a function returns, its seconds unless it went on from a state, the machine."""
    begun, before = time.process_time(), cache.taken_up
    result = fn(*args, **kwargs)
    whole = cache.taken_up == before
    return result, round(time.process_time() - begun, 1) if whole else None, machine_name()


def file_of(name: str, root: Path) -> str:
    """Return the file of stored runs with a name; raise BookError where the book has none."""
    files = {Path(file).stem: file for file in read_book(root).stored_runs}
    if name not in files:
        known = ", ".join(sorted(files)) or "none"
        raise BookError(f"There are no stored runs called {name!r}; the known names are: {known}.")
    return files[name]


def complete(name: str, root: Path, src: Path) -> None:
    """Compute what a file lacks, through the cache in use, and write it after each run."""
    from running import sweep
    from running.executors import default_executor

    file = File(file_of(name, root), root, src)

    def keep(configuration: Any, result: Any, seconds: float | None, where: str | None) -> None:
        date = datetime.now(UTC).isoformat(timespec="seconds")
        file.keep(Entry(configuration, file.code, made_at, where, of, seconds, date, result))

    lacking = file.lacking
    made_at, of = commit(root, below=SOURCES), versions(file.runs.packages)
    kinds = tuple({type(cell) for cell in lacking})
    with default_executor() as pool:
        executor = Recording(pool, kinds, keep)
        results = sweep.run(file.runs.bound(root), lacking, executor, label=name)
    for configuration, result in zip(lacking, results, strict=True):
        if configuration in file.lacking:  # the cache had it
            keep(configuration, result, None, None)


@dataclass(frozen=True)
class StoredRun:
    """A stored run of this repository.

    Attributes:
        name: what messages call it, the name of its file and its place there.
        file: of its declaration.
        entry: the run as the file has it.
        function: computes it, of its configuration alone.
    """

    name: str
    file: str
    entry: Entry
    function: Callable[[Any], Any]


def stored_runs(root: Path, src: Path) -> Iterator[StoredRun]:
    """Yield every stored run of a book; raise BookError for a damaged file."""
    for name in (name for name in read_book(root).stored_runs if (root / name).is_file()):
        file = File(name, root, src)
        function = file.runs.bound(root)
        for place, entry in enumerate(file.entries.values(), start=1):
            yield StoredRun(f"{Path(name).stem} {place}", name, entry, function)


def remark(chapter: Chapter, settings: Settings) -> str:
    """Return what there is to say of the code that made the stored runs of a chapter, if any."""
    names = stored_by(chapter, settings)
    files = [File(name, settings.root, sources(settings)) for name in names]
    return said(sum(file.earlier for file in files), sum(len(file.entries) for file in files))


def stored_by(chapter: Chapter, settings: Settings) -> list[str]:
    """Return the files of stored runs that a chapter reads."""
    registered = read_book(settings.root).stored_runs
    return [name for name in chapter.data if name in registered]


def said(earlier: int, count: int) -> str:
    """Return the sentence about so many runs of earlier code; empty where all are of today's."""
    if not earlier:
        return ""
    made = "was" if earlier == 1 else "were"
    return (
        f"Of the {count} stored runs of this chapter, {earlier} {made} made by earlier code or by "
        "code that was not recorded."
    )
