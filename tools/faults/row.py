"""A row of the table, and the processes that are killed."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bookbuild.results.store import Store

FORK = multiprocessing.get_context("fork")  # the children need not import PyTorch again


@dataclass
class Row:
    """What was done how often, what of it the project noticed or outlived, and what was lost."""

    fault: str
    tried: int = 0
    noticed: int = 0
    lost: list[str] = field(default_factory=list)
    remark: str = ""

    def check(self, sound: bool, what: str) -> None:
        """Count a loss unless all is sound."""
        if not sound:
            self.lost.append(what)


def results(folder: Path, file: str) -> dict[str, bytes]:
    """Return a file of each stored chapter and task, by key.

    A state of a training is no result: whether there is one depends on how long the training took.
    """
    store = Store(folder)
    found = [store.get(key)[0] for key in store.listed()]
    return {s.key: s.files[file] for s in found if s and s.kind not in ("training", "checkpoint")}


def kill_after(seconds: float, work: Callable[..., None], *arguments: Any) -> bool:
    """Do some work in a process and kill it -9 at a moment; return whether it was still at it."""
    process = FORK.Process(target=_alone, args=(work, *arguments))
    process.start()
    process.join(seconds)
    at_work = process.is_alive()
    if at_work:
        process.kill()
    process.join()
    return at_work and process.exitcode == -signal.SIGKILL


def seconds_of(work: Callable[..., None], *arguments: Any) -> float:
    """Return how long a process needs for some work, undisturbed."""
    started = time.monotonic()
    process = FORK.Process(target=_alone, args=(work, *arguments))
    process.start()
    process.join()
    if process.exitcode != 0:
        raise RuntimeError(f"{work.__name__} does not work even undisturbed")
    return time.monotonic() - started


def _alone(work: Callable[..., None], *arguments: Any) -> None:
    """Work in a session of one's own, so that nothing else is hit."""
    os.setsid()
    work(*arguments)
