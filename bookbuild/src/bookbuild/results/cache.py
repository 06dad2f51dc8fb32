"""The cache of the chapters: what they compute is stored under the key of its task."""

import dataclasses
import json
import logging
import os
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from bookbuild.errors import BookError
from bookbuild.settings import CHECKPOINT_INTERVAL, SHORT, BuildSettings
from bookbuild.source.book import read_book

from .archive import RESULTS, open_archive
from .keys import task_fingerprint, task_key
from .machine import gpu, machine_name, pin
from .snapshot import sources
from .store import Kind, Store, Stored
from .values import from_files, to_files

ORDER = "BOOKBUILD_CACHE"
SHARE = 20  # writing states may take one part in so many of the time
taken_up = 0  # trainings of this process that went on from a state
answered = 0  # tasks of this process whose result, or a state of it, was kept
STARTUP = (
    "from bookbuild.results.cache import attach_from_environment as attach; attach(); del attach\n"
)

log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class StoredCache:
    """The cache of a build: where it lies, which sources are executed, on which device, for what.

    A task is a dataclass that names the module and the function, their configuration, and the
    conditions of the last bits. A training is kept as its last state; one that was interrupted goes
    on from there.
    """

    results: Path  # the folder of the store
    sources: Path  # the folder of what is executed
    device: str  # cpu or cuda
    origin: dict[str, Any]  # what is written down of every result
    interval: float = CHECKPOINT_INTERVAL  # seconds between two states of a training
    short: float = SHORT  # seconds; a training that has ended sooner is not kept
    published: Path | None = None  # an archive that serves for what a chapter itself asks for
    withheld: str = ""  # the fingerprint of what it does not lend all the same
    asked: Path | None = None  # a file that lists what that is, with fingerprint and key
    running: str = ""  # the package of the book that asks this cache

    @classmethod
    def ordered(cls, order: Mapping[str, Any]) -> "StoredCache":
        """Return the cache that a build has ordered, and pin its device."""
        pin(order["device"])
        named = ("results", "sources", "published", "asked")
        return cls(**{**order, **{name: Path(order[name]) for name in named if order.get(name)}})

    def get(self, task: Any) -> Any:
        """Return the result of a task; raise KeyError where there is no sound one."""
        result = self.load(task)
        if result is None:
            raise KeyError(task)
        return result

    def put(self, task: Any, result: Any) -> None:
        """Store the result of a task; raise BookError where that fails."""
        self.keep(task, "sweep", result)

    def checkpoint(self, task: Any) -> "StoredCheckpoint":
        """Return the place for states of a task."""
        return StoredCheckpoint(self, task)

    def load(self, task: Any) -> Any:
        """Return what is kept of a task, or published; BookError where the latter is damaged."""
        global answered
        key, store = self.key(task), Store(self.results)
        stored, remark = store.get(key)
        if remark:
            log.warning(remark)
        if not (self.running and import_module(f"{self.running}.cache").is_inner()):
            fingerprint = task_fingerprint(dataclasses.asdict(task), self.sources)
            if self.asked:
                with self.asked.open("a", encoding="utf-8") as file:
                    file.write(f"{fingerprint} {key}\n")
            if stored is None and self.published:
                archive = open_archive(self.published)
                chapter = archive.chapters.get(self.origin.get("chapter", ""))
                if chapter and fingerprint in chapter.results and fingerprint != self.withheld:
                    lent = archive.files(f"{RESULTS}/{fingerprint}")
                    stored = self._store(task, "published", lent)
        answered += stored is not None
        return from_files(stored.files) if stored else None

    @property
    def answers(self) -> int:
        """How often this process has been answered with something kept."""
        return answered

    def keep(self, task: Any, kind: Kind, value: Any) -> None:
        """Store what there is of a task, in place of what there was."""
        self._store(task, kind, to_files(value))

    def _store(self, task: Any, kind: Kind, files: dict[str, bytes]) -> Stored:
        origin = {
            "device": self.device,
            "machine": machine_name(),
            "task": dataclasses.asdict(task),
        }
        if self.device == "cuda":
            origin["gpu"] = gpu()
        name = f"{task.module}.{task.function}"
        return Store(self.results).put(self.key(task), kind, name, self.origin | origin, files)

    def key(self, task: Any) -> str:
        """Return the key of a task's result."""
        return task_key(dataclasses.asdict(task), self.device, self.sources)


class StoredCheckpoint:
    """States of one training, the newest in place of the one before; the last one is its result."""

    def __init__(self, cache: StoredCache, task: Any) -> None:
        self._cache, self._task = cache, task
        self._started = self._last = time.monotonic()
        self._cost = 0.0

    def load(self) -> dict[str, Any] | None:
        """Return the newest state, if there is a sound one."""
        global taken_up
        state: dict[str, Any] | None = self._cache.load(self._task)
        taken_up += state is not None
        return state

    def offer(self, state: Callable[[], dict[str, Any]], *, ended: bool) -> None:
        """Keep a state when it is time; a disk that is full costs the state, not the run."""
        now, interval = time.monotonic(), self._cache.interval
        due = now - self._last >= max(interval, SHARE * self._cost)
        worth = ended and now - self._started >= min(self._cache.short, interval)
        if not (due or worth):
            return
        try:
            self._cache.keep(self._task, "training" if ended else "checkpoint", state())
        except BookError as error:
            log.warning(str(error))
        self._last = time.monotonic()
        self._cost = self._last - now


def order_of(settings: BuildSettings, origin: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `StoredCache.ordered` attaches in another process, in values of JSON."""
    return {
        "results": str(settings.results),
        "sources": str(sources(settings)),
        "device": settings.device,
        "origin": origin,
        "interval": settings.interval,
        "short": settings.short,
        "published": settings.published and str(settings.published),
        "withheld": settings.withheld,
        "running": read_book(settings.root).running,
    }


def attach_from_environment() -> None:
    """Attach the cache that a build has ordered to the package that asks it, if there is one."""
    if order := json.loads(os.environ.get(ORDER, "{}")):
        store = StoredCache.ordered(order)
        if store.running:
            import_module(f"{store.running}.cache").attach(store)
