"""What an execution used: the memory of its kernel, and the memory and load of a GPU."""

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import fmean
from threading import Event, Thread

PERIOD = 1.0  # seconds between two queries of a GPU; its load is averaged over at most as long
PATIENCE = 10.0  # seconds that a query may take
MEBIBYTE = 2**20

Usage = dict[str, float]
Look = tuple[str, str]  # percentage of the time, and mebibytes, or why they are not known


@contextmanager
def watched(gpu: str | None) -> Iterator[Callable[[], Usage]]:
    """Yield a function that returns, once the kernel has ended, what it used.

    `gpu` is the number or the UUID of a GPU, or None on a processor. In what is returned
    `memory` is the most bytes that a child of this process held in main memory, `gpu_memory` the
    most that all processes held on the GPU, and `gpu_busy` the share of the time in which the GPU
    computed. What nvidia-smi does not report is left out.
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
    """Query a GPU once a period, until the execution is over or nvidia-smi fails."""
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
    """Return the mean load and the most memory of all queries, without what was not reported."""
    busy, held = ([float(look[i]) for look in looks if look[i].isdecimal()] for i in range(2))
    return ({"gpu_busy": fmean(busy) / 100} if busy else {}) | (
        {"gpu_memory": MEBIBYTE * max(held)} if held else {}
    )


def _peak() -> int:
    """Return the most bytes that the kernel, which has ended, held in memory at once."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
