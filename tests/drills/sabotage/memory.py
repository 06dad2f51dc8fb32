"""Trainings kept from one fault to the next, under keys that know the faulted sources."""

import time
from functools import cache
from pathlib import Path
from typing import Any

from bookbuild.results.cache import StoredCache, StoredCheckpoint
from bookbuild.results.keys import digest, fingerprint
from bookbuild.results.store import Store
from emergence.running.cache import Checkpoint, Task

INTERVAL = 300.0  # seconds between states of a training; ended ones are kept always


class Trainings(StoredCache):
    """A cache in a folder of the drill's own, which no build reads.

    The key of a state has the sources of the task's module in it, as they are with the fault. A
    fault that a training cannot reach, in a measure say, finds it ended; one that it can reach
    trains anew.
    """

    def checkpoint(self, task: Task) -> Checkpoint:
        folder = self.results / "states" / sources_digest(task.module, self.sources)
        return StoredCheckpoint(Store(folder), task, self.origin, INTERVAL)


@cache
def sources_digest(module: str, src: Path) -> str:
    """What stands for the sources and versions behind a module."""
    files, versions = fingerprint([f"import {module}"], src)
    return digest({"files": files, "versions": versions})


def trainings(folder: Path, src: Path, chapter: str) -> Trainings:
    """The cache of a process that executes a chapter on these sources."""
    origin: dict[str, Any] = {"chapter": chapter, "since": time.time()}
    return Trainings(folder, src, "cpu", origin)
