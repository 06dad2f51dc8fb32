"""Lines about the execution of chapters: a start, some progress now and then, an end."""

import time
from collections.abc import Callable, Mapping
from typing import Any

SECONDS_BETWEEN_LINES = 20.0


class Display:
    """What is told of chapters while they run, a line each time, by a function that prints it."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._last: dict[str, float] = {}
        self._opened: dict[str, Mapping[str, Any]] = {}

    def start(self, chapter: str) -> None:
        """Tell that a chapter has started."""
        self._last[chapter] = time.time()
        self._write(f"{chapter}: started")

    def progress(self, chapter: str, record: Mapping[str, Any]) -> None:
        """Tell how far a chapter is: experiment, step, total and time, if it has said so."""
        if not record:
            return
        opened = self._opened.get(chapter)
        if opened is None or opened["experiment"] != record["experiment"]:
            opened = self._opened[chapter] = record
        now = time.time()
        if now - self._last[chapter] < SECONDS_BETWEEN_LINES:
            return
        self._last[chapter] = now
        steps, seconds = record["step"] - opened["step"], record["time"] - opened["time"]
        left = (record["total"] - record["step"]) * seconds / steps if steps > 0 else None
        position = f"{record['experiment']}, step {record['step']} of {record['total']}"
        rest = "" if left is None else f", about {left:.0f} s left"
        self._write(f"{chapter}: {position}{rest}")

    def done(self, chapter: str, seconds: float, *, failed: bool) -> None:
        """Tell that a chapter has ended."""
        self._write(f"{chapter}: {'failed after' if failed else 'done in'} {seconds:.1f} s")
