"""Stored runs: their registry, which of them today's code would make, how a file is completed."""

import importlib
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bookbuild.errors import BookError
from bookbuild.ledger.carried import leads
from bookbuild.ledger.stored import RUNS, read_record
from bookbuild.reporting.provenance import commit, versions
from bookbuild.results.keys import code_of
from bookbuild.results.machine import machine
from bookbuild.results.snapshot import SOURCES, sources
from bookbuild.results.store import write_whole
from bookbuild.settings import Settings
from bookbuild.source.chapters import Chapter
from running.records import Entry, StoredRuns, written

COMPANIONS = "data/companions"
REGISTRY = {  # where the declaration of each file lies, under the name RUNS
    "data/token_grid.json": "chapters.beyond.real_transformers.token_grid.store",
    "data/every_position.json": "chapters.beyond.every_position.stored",
    f"{COMPANIONS}/associative_memories.json": "chapters.companions.associative_memories.stored",
    f"{COMPANIONS}/birth.json": "chapters.companions.birth.runs.record",
    f"{COMPANIONS}/distributional.json": "chapters.companions.distributional.stored",
    f"{COMPANIONS}/factual_recall.json": "chapters.companions.factual_recall.stored",
    f"{COMPANIONS}/grokking.json": "chapters.companions.grokking.stored",
    f"{COMPANIONS}/k_hop.json": "chapters.companions.k_hop.stored",
    f"{COMPANIONS}/language.json": "chapters.companions.retrieval.silencing",
}


class File:
    """A file of stored runs below a folder, its declaration, and the code of the sources there."""

    def __init__(self, file: str, root: Path, src: Path) -> None:
        """Read the file; raise BookError with a sentence where it is damaged or of other runs."""
        self.path = root / file
        self.runs: StoredRuns = importlib.import_module(REGISTRY[file]).RUNS
        function = self.runs.function
        self.code = code_of(function.__module__, function.__qualname__, src)
        self.carries = read_record(root / RUNS).get(file, [])
        self.entries: dict[Any, Entry] = {}
        if self.path.is_file():
            try:
                found = self.runs.entries(self.path.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise BookError(f"{self.path}: {error}.") from error
            self.entries = {entry.configuration: entry for entry in found}

    @property
    def earlier(self) -> int:
        """How many runs other code made than today's, as far as the file says."""
        return sum(not self._current(cell) for cell in self.entries)

    @property
    def carried(self) -> int:
        """How many runs were made before edits that changed no number."""
        return sum(entry.code != self.code for entry in self.entries.values()) - self.earlier

    @property
    def lacking(self) -> list[Any]:
        """The declared configurations of which today's code has made no run, in their order."""
        return [cell for cell in self.runs.cells if not self._current(cell)]

    def keep(self, entry: Entry) -> None:
        """Write the file with a run in its place; what is no longer declared goes."""
        places = [*self.entries, *(c for c in self.runs.cells if c not in self.entries)]
        found = self.entries | {entry.configuration: entry}
        declared = {*self.runs.cells}
        self.entries = {c: found[c] for c in places if c in found and c in declared}
        write_whole(self.path, written(self.entries.values()).encode())

    def _current(self, configuration: Any) -> bool:
        entry = self.entries.get(configuration)
        return entry is not None and leads(self.carries, entry.code, self.code)


class Recording(Executor):
    """An executor that hands over each finished run before the sweep hears of it."""

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
            except BaseException as error:  # whatever it is, the sweep has to hear of it
                told.set_exception(error)
            else:
                told.set_result(result)

        self._pool.submit(_timed, fn, *args, **kwargs).add_done_callback(hand_over)
        return told


def _timed(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> tuple[Any, float, str]:
    """Return what a function returns, the seconds of this process, and the machine."""
    begun = time.process_time()
    result = fn(*args, **kwargs)
    return result, round(time.process_time() - begun, 1), machine()


def file_of(name: str) -> str:
    """Return the file of stored runs with a name; raise BookError where there is none."""
    files = {Path(file).stem: file for file in REGISTRY}
    if name not in files:
        known = ", ".join(sorted(files))
        raise BookError(f"There are no stored runs called {name!r}; there are {known}.")
    return files[name]


def complete(name: str, root: Path, src: Path) -> None:
    """Compute what a file lacks, through the cache in use, and write it after each run."""
    from running import sweep
    from running.executors import default_executor

    file = File(file_of(name), root, src)

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


def remark(chapter: Chapter, settings: Settings) -> str:
    """Return what there is to say of the code that made the stored runs of a chapter, if any."""
    files = [File(name, settings.root, sources(settings)) for name in stored_by(chapter, settings)]
    return said(
        sum(file.earlier for file in files),
        sum(file.carried for file in files),
        sum(len(file.entries) for file in files),
    )


def stored_by(chapter: Chapter, settings: Settings) -> list[str]:
    """Return the files of stored runs that a chapter reads."""
    names = (path.relative_to(settings.root).as_posix() for path in chapter.data)
    return [name for name in names if name in REGISTRY]


def said(earlier: int, carried: int, count: int) -> str:
    """Return the sentences about so many runs of earlier code, and so many that were carried."""
    told = []
    if earlier:
        made = "was" if earlier == 1 else "were"
        told.append(
            f"Of the {count} stored runs of this chapter, {earlier} {made} made by earlier code "
            "or by code that nobody wrote down."
        )
    if carried:
        made = "was" if carried == 1 else "were"
        told.append(
            f"Of the {count} stored runs of this chapter, {carried} {made} made before edits that "
            "changed no number of the book."
        )
    return " ".join(told)
