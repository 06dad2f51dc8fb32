"""What an execution took: the memory of its kernel and, of a GPU, memory and share of the time."""

import csv
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import fmean

SAMPLE = 250  # milliseconds between two looks at the GPU
MEBIBYTE = 2**20

Usage = dict[str, float]


@contextmanager
def watched(gpu: str | None) -> Iterator[Callable[[], Usage]]:
    """Yield a function that tells, when all is over, what was used, a GPU by its number or UUID.

    `memory` is the most bytes that a child of this process held in main memory, `gpu_memory` the
    most that anyone held on the GPU, `gpu_busy` the share of the time in which it computed. What
    the driver's own tool does not tell is left out.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
        watch = _watch(gpu, log.fileno()) if gpu is not None else None

        def used() -> Usage:
            if watch:
                watch.terminate()
                watch.wait()
            log.seek(0)
            return {"memory": _peak(), **_of_gpu(log)}

        try:
            yield used
        finally:
            if watch:
                watch.kill()
                watch.wait()


def _watch(gpu: str, log: int) -> subprocess.Popen[bytes] | None:
    """Start the driver's tool; None where there is none."""
    try:
        return subprocess.Popen(
            [
                "nvidia-smi",
                f"--id={gpu}",
                "--query-gpu=utilization.gpu,memory.used",
                "--format=csv,noheader,nounits",
                f"--loop-ms={SAMPLE}",
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None


def _of_gpu(lines: Iterator[str]) -> Usage:
    """Return what the samples say; a column of a GPU that does not tell it holds no numbers."""
    rows = [row for row in csv.reader(lines, skipinitialspace=True) if len(row) == 2]
    busy, held = ([float(row[i]) for row in rows if row[i].isdecimal()] for i in range(2))
    return ({"gpu_busy": fmean(busy) / 100} if busy else {}) | (
        {"gpu_memory": MEBIBYTE * max(held)} if held else {}
    )


def _peak() -> int:
    """Return the most bytes that the kernel, which has ended, held in memory at once."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
