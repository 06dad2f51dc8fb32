"""What an execution took: the memory of its kernel and, of a GPU, memory and share of the time."""

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import fmean
from threading import Event, Thread

PERIOD = 1.0  # seconds between two looks at a GPU, each of which tells of as long at most
PATIENCE = 10.0  # seconds for a look
MEBIBYTE = 2**20

Usage = dict[str, float]
Look = tuple[str, str]  # percentage of the time, and mebibytes, or why they are not known


@contextmanager
def watched(gpu: str | None) -> Iterator[Callable[[], Usage]]:
    """Yield a function that tells, when all is over, what was used, a GPU by its number or UUID.

    `memory` is the most bytes that a child of this process held in main memory, `gpu_memory` the
    most that anyone held on the GPU, `gpu_busy` the share of the time in which it computed. What
    the driver's own tool does not tell is left out.
    """
    looks: list[Look] = []
    over = Event()
    watch = Thread(target=_watch, args=(gpu, looks, over), daemon=True)
    if gpu is not None:
        watch.start()
    try:
        yield lambda: {"memory": _peak(), **_of_gpu(looks)}
    finally:
        over.set()


def _watch(gpu: str, looks: list[Look], over: Event) -> None:
    """Look at a GPU until all is over or there is no tool to look with."""
    command = ["nvidia-smi", f"--id={gpu}", "--query-gpu=utilization.gpu,memory.used"]
    while not over.wait(PERIOD):
        try:
            told = subprocess.run(
                [*command, "--format=csv,noheader,nounits"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return
        busy, _, held = told.stdout.strip().partition(", ")
        looks.append((busy, held))


def _of_gpu(looks: list[Look]) -> Usage:
    """Return what the looks say; where a GPU does not tell something, there is no number."""
    busy, held = ([float(look[i]) for look in looks if look[i].isdecimal()] for i in range(2))
    return ({"gpu_busy": fmean(busy) / 100} if busy else {}) | (
        {"gpu_memory": MEBIBYTE * max(held)} if held else {}
    )


def _peak() -> int:
    """Return the most bytes that the kernel, which has ended, held in memory at once."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
