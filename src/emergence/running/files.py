"""A cache that keeps the states of trainings in files beside a result, until that is written."""

import hashlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from .cache import Cache, Checkpoint, Task

INTERVAL = 5.0  # seconds between two states


class FileCache(Cache):
    """Keeps the newest state of each training in a file beside the result."""

    def __init__(self, result: Path, interval: float = INTERVAL) -> None:
        self.result, self.interval = result, interval
        self.used: list[Path] = []

    def checkpoint(self, task: Task) -> Checkpoint:
        """The place for states of a task."""
        text = json.dumps([asdict(task), torch.__version__], sort_keys=True, default=str)
        name = hashlib.sha256(text.encode()).hexdigest()[:12]
        self.used.append(self.result.with_name(f"{self.result.name}.{name}.part"))
        return _FileCheckpoint(self.used[-1], self.interval)

    def remove(self) -> None:
        for path in self.used:
            path.unlink(missing_ok=True)


class _FileCheckpoint(Checkpoint):
    """The states of one training in a file, the newest in place of the one before."""

    def __init__(self, path: Path, interval: float) -> None:
        self._path, self._interval, self._last = path, interval, time.monotonic()

    def load(self) -> dict[str, Any] | None:
        """The newest state; None where there is none, or where it cannot be read."""
        try:
            state: dict[str, Any] = torch.load(self._path, weights_only=True)
        except (OSError, RuntimeError, ValueError, EOFError):
            return None
        return state

    def offer(self, state: Callable[[], dict[str, Any]], *, ended: bool) -> None:
        """Keep a state at the end, and when it is time."""
        if ended or time.monotonic() - self._last >= self._interval:
            write_whole(state(), self._path)
            self._last = time.monotonic()


def write_whole(content: Any, path: Path) -> None:
    """Write a file of PyTorch, which is there whole or not at all; OSError if that fails."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        torch.save(content, partial)
        partial.replace(path)
    except RuntimeError as error:  # as PyTorch calls a folder that is missing
        raise OSError(f"{path} cannot be written") from error
    finally:
        partial.unlink(missing_ok=True)
