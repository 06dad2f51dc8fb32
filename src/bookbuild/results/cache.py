"""Cache for `emergence`: results of sweeps in the store, states of long runs beside it."""

import dataclasses
import json
import logging
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from bookbuild.errors import BookError
from bookbuild.settings import CHECKPOINT_INTERVAL
from emergence.running import cache
from emergence.running.cache import Task

from .keys import digest, task_key
from .machine import gpu, machine, pin
from .store import Store
from .values import from_files, to_files

ORDER = "BOOKBUILD_CACHE"
SHORT = 1.0  # seconds; a run that has ended sooner is not worth a file
SHARE = 20  # a state is written at most so often that writing takes one part in so many of the time
STARTUP = (
    "from bookbuild.results.cache import attach_from_environment as attach; attach(); del attach\n"
)

log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class StoredCache:
    """The cache of a build: where it lies, which sources are executed, on which device, for what.

    Without a folder for checkpoints, no states are kept.
    """

    results: Path
    sources: Path
    device: str
    origin: dict[str, Any]
    checkpoints: Path | None = None
    interval: float = CHECKPOINT_INTERVAL

    def get(self, task: Task) -> Any:
        """Return the result of a task; raise KeyError where there is no sound one."""
        stored, remark = Store(self.results).get(self.key(task))
        if remark:
            log.warning(remark)
        if stored is None:
            raise KeyError(task)
        return from_files(stored.files)

    def put(self, task: Task, result: Any) -> None:
        """Store the result of a task; raise BookError where that fails."""
        made = {"device": self.device, "machine": machine(), "task": dataclasses.asdict(task)}
        if self.device == "cuda":
            made["gpu"] = gpu()
        name = f"{task.module}.{task.function}"
        Store(self.results).put(self.key(task), "sweep", name, self.origin | made, to_files(result))

    def checkpoint(self, task: Task) -> cache.Checkpoint:
        """Return the place for states of a task."""
        if self.checkpoints is None:
            return cache.NO_CACHE.checkpoint(task)
        return StoredCheckpoint(Store(self.checkpoints), task, self.origin, self.interval)

    def key(self, task: Task) -> str:
        """Return the key of a task's result."""
        return task_key(dataclasses.asdict(task), self.device, self.sources)


class StoredCheckpoint:
    """States of one run, the newest in place of the one before."""

    def __init__(self, store: Store, task: Task, origin: dict[str, Any], interval: float) -> None:
        self._store, self._task, self._origin = store, task, origin
        # The folder stands for sources and versions: it bears the key of the chapter.
        self._key = digest(dataclasses.asdict(task))
        self._interval = interval
        self._started = self._last = time.monotonic()
        self._cost = 0.0

    def load(self) -> dict[str, Any] | None:
        """Return the newest state, if there is a sound one."""
        stored, remark = self._store.get(self._key)
        if remark:
            log.warning(remark)
        return from_files(stored.files) if stored else None

    def offer(self, state: Callable[[], dict[str, Any]], *, ended: bool) -> None:
        """Keep a state when it is time; a disk that is full costs the state, not the run."""
        now = time.monotonic()
        due = now - self._last >= max(self._interval, SHARE * self._cost)
        worth = ended and now - self._started >= min(SHORT, self._interval)
        if not (due or worth):
            return
        try:
            name = f"{self._task.module}.{self._task.function}"
            self._store.put(self._key, "checkpoint", name, self._origin, to_files(state()))
        except BookError as error:
            log.warning(str(error))
        self._last = time.monotonic()
        self._cost = self._last - now


def attached_for(root: Path, name: str) -> AbstractContextManager[None]:
    """A context for a script of `data/`: states of its runs are kept in `_build/<name>`."""
    build = root / "_build"
    return cache.attached(StoredCache(build / "results", root / "src", "cpu", {}, build / name))


def attach_from_environment() -> None:
    """Attach the cache that a build has ordered, and pin its device; do nothing elsewhere."""
    order = os.environ.get(ORDER)
    if order:
        values = json.loads(order)
        for name in ("results", "sources", "checkpoints"):
            values[name] = values[name] and Path(values[name])
        pin(values["device"])
        cache.attach(StoredCache(**values))
