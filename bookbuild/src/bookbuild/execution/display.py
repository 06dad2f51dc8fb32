"""What is told of chapters while they run: a bar in a terminal, elsewhere a line for each."""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

Tell = Callable[[str], None]  # what prints a line
TRUST = 30.0  # seconds of the record that count as much as what this machine has taken
WIDTH = 30  # of the bar, in characters


class Display:
    """A line for each chapter that has ended, written by a function."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._lock = threading.Lock()  # chapters start and end in threads of their own
        self._ended = self._all = 0

    @contextmanager
    def opened(self, stored: int, expected: Mapping[str, float], jobs: int) -> Iterator[None]:
        """Tell of the chapters that are executed as long as the context lasts.

        `expected` has the seconds that each of them should take, by its name; `stored` is the
        number of the book's other chapters, whose results are there already.
        """
        self._ended, self._all = stored, stored + len(expected)
        yield

    def start(self, chapter: str) -> None:
        """Tell that a chapter has started."""

    def progress(self, chapter: str, record: Mapping[str, Any]) -> None:
        """Tell how far a chapter is: experiment, step, total and time, if it has said so."""

    def done(self, chapter: str, seconds: float, *, failed: bool) -> None:
        """Tell that a chapter has ended."""
        with self._lock:
            self._ended += 1
            place = f"{self._ended} of {self._all}"
        self._write(
            f"{chapter}: {'failed after' if failed else 'done in'} {seconds:.1f} s ({place})"
        )


class Bar(Display):
    """A bar for the book, and below it a line for each chapter that is running."""

    def __init__(self, console: Console) -> None:
        super().__init__(lambda line: console.print(Text(line, "red")))
        self._console = console
        self._jobs = 1
        self._expected: dict[str, float] = {}
        self._took: dict[str, float] = {}
        self._started: dict[str, float] = {}  # those that are running
        self._records: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {}  # first and last

    @contextmanager
    def opened(self, stored: int, expected: Mapping[str, float], jobs: int) -> Iterator[None]:
        """Draw as long as the context lasts; however it ends, the terminal is as it was."""
        self._expected, self._took, self._jobs = {**expected}, {}, jobs
        live = Live(get_renderable=self._picture, console=self._console, transient=True)
        with super().opened(stored, expected, jobs), live:
            yield

    def start(self, chapter: str) -> None:
        """Add the line of a chapter."""
        with self._lock:
            self._started[chapter] = time.monotonic()

    def progress(self, chapter: str, record: Mapping[str, Any]) -> None:
        """Note how far a chapter is in its experiment."""
        if record:
            with self._lock:
                first, _ = self._records.get(chapter, (record, record))
                same = first["experiment"] == record["experiment"]
                self._records[chapter] = (first if same else record, record)

    def done(self, chapter: str, seconds: float, *, failed: bool) -> None:
        """Remove the line of a chapter; a failure is told at once."""
        with self._lock:
            del self._started[chapter]
            if not failed:
                self._ended += 1
                self._took[chapter] = seconds
                return
            del self._expected[chapter]
        super().done(chapter, seconds, failed=failed)

    def _picture(self) -> Group:
        """Return what is drawn now; the terminal asks for it a few times a second."""
        now = time.monotonic()
        with self._lock:
            elapsed = {name: now - since for name, since in self._started.items()}
            left = seconds_left(self._expected, self._took, elapsed, self._jobs)
            lines = [f"  {name}{_position(*self._records.get(name, ()))}" for name in elapsed]
            ended = self._ended
        book = Table.grid(padding=(0, 1))
        bar = ProgressBar(self._all, ended, WIDTH, complete_style="cyan", finished_style="cyan")
        book.add_row(f"{ended} of {self._all} chapters", bar, _told(left) if left >= 1 else "")
        return Group(book, *(Text(line, no_wrap=True, overflow="ellipsis") for line in lines))


def display_of(write: Callable[[str], None]) -> Display:
    """Return the bar for a terminal; elsewhere the lines, which the function writes."""
    console = Console()
    return Bar(console) if sys.stdout.isatty() and not console.is_dumb_terminal else Display(write)


def seconds_left(
    expected: Mapping[str, float],
    took: Mapping[str, float],
    elapsed: Mapping[str, float],
    jobs: int,
) -> float:
    """Return about how many seconds the chapters take that have not ended.

    `expected` is what each takes by the record, which is scaled by what those took here that have
    ended; `elapsed` is the time since the others started that are running.
    """
    record = sum(expected[name] for name in took)
    scale = (TRUST + sum(took.values())) / (TRUST + record)
    waiting = expected.keys() - took.keys()
    left = [max(0.0, scale * expected[name] - elapsed.get(name, 0.0)) for name in waiting]
    return max([sum(left) / jobs, *left])


def _position(*records: Mapping[str, Any]) -> str:
    """Return how far an experiment is, given its first record and its last; empty without any."""
    if not records:
        return ""
    first, last = records
    steps, seconds = last["step"] - first["step"], last["time"] - first["time"]
    rest = f", {_told((last['total'] - last['step']) * seconds / steps)}" if steps > 0 else ""
    return f": {last['experiment']}, step {last['step']} of {last['total']}{rest}"


def _told(seconds: float) -> str:
    minutes = round(seconds / 60)
    if seconds < 100:
        return f"about {seconds:.0f} s left"
    hours = f"{minutes // 60} h " if minutes >= 60 else ""
    return f"about {hours}{minutes % 60} min left"
