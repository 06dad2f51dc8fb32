"""Display of the execution: a live table on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

SECONDS_BETWEEN_LINES = 20.0


class PlainDisplay(nullcontext[None]):
    """Plain lines: a start, some progress now and then, an end."""

    def __init__(self, write: Callable[[str], None]) -> None:
        super().__init__()
        self._write = write
        self._last: dict[str, float] = {}
        self._opened: dict[str, Mapping[str, Any]] = {}

    def start(self, chapter: str) -> None:
        """Tell that a chapter has started."""
        self._last[chapter] = time.time()
        self._write(f"{chapter}: started")

    def progress(self, chapter: str, record: Mapping[str, Any] | None) -> None:
        """Tell how far a chapter is: experiment, step, total and the time of the record."""
        if record is None:
            return
        opened = self._opened.get(chapter)
        if opened is None or opened["experiment"] != record["experiment"]:
            opened = self._opened[chapter] = record
        now = time.time()
        if now - self._last[chapter] < SECONDS_BETWEEN_LINES:
            return
        self._last[chapter] = now
        position = f"{record['experiment']}, step {record['step']} of {record['total']}"
        self._write(f"{chapter}: {position}{_time_left(opened, record)}")

    def done(self, chapter: str, seconds: float, *, failed: bool) -> None:
        """Tell that a chapter has ended."""
        self._write(f"{chapter}: {'failed after' if failed else 'done in'} {seconds:.1f} s")


class LiveDisplay:
    """One line per running chapter: experiment, bar, step, time left."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._tasks: dict[str, TaskID] = {}
        self._experiments: dict[str, str] = {}
        self._progress = Progress(
            TextColumn("{task.fields[chapter]}"),
            TextColumn("{task.description}", style="dim"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[position]}"),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
        )

    def __enter__(self) -> None:
        self._progress.start()

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def start(self, chapter: str) -> None:
        self._tasks[chapter] = self._progress.add_task("", total=None, chapter=chapter, position="")

    def progress(self, chapter: str, record: Mapping[str, Any] | None) -> None:
        if record is None:
            return
        task = self._tasks[chapter]
        if self._experiments.get(chapter) != record["experiment"]:
            self._experiments[chapter] = record["experiment"]
            self._progress.reset(task)  # the time left is that of the experiment
        self._progress.update(
            task,
            description=record["experiment"],
            completed=record["step"],
            total=record["total"] or None,
            position=f"{record['step']}/{record['total']}",
        )

    def done(self, chapter: str, seconds: float, *, failed: bool) -> None:
        self._progress.remove_task(self._tasks.pop(chapter))
        state = "[red]failed after[/]" if failed else "[green]done in[/]"
        self._console.print(f"{chapter}: {state} {seconds:.1f} s", highlight=False)


Display = PlainDisplay | LiveDisplay  # a context manager that opens and closes the view


def choose_display(console: Console) -> Display:
    """Return the display that suits where the output goes."""
    if console.is_terminal:
        return LiveDisplay(console)
    return PlainDisplay(lambda line: print(line, flush=True))


def _time_left(opened: Mapping[str, Any], record: Mapping[str, Any]) -> str:
    """Return the time left of an experiment at the rate it has had so far, as text."""
    steps, seconds = record["step"] - opened["step"], record["time"] - opened["time"]
    if steps <= 0:
        return ""
    return f", about {(record['total'] - record['step']) * seconds / steps:.0f} s left"
