"""Process that computes a sweep, or stored runs: python -m bookbuild.execution.sweeper ORDER."""

import json
import logging
import os
import signal
import sys
import time
from pathlib import Path

import torch

from bookbuild.errors import BookError
from bookbuild.processes import die_with_parent
from bookbuild.results.cache import StoredCache
from running import cache, sweep
from running.executors import SCHEDULER

from . import runs
from .sweeps import read_grid

SECONDS_BETWEEN_LINES = 1.0


class Lines(logging.Handler):
    """Print how many runs are done, a line a second at most."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self.label, self.total, self.known = label, 0, 0
        self._last = float("-inf")
        self._opened = False

    def emit(self, record: logging.LogRecord) -> None:
        """Print a line about the sweep; the steps of a single run are of no interest here."""
        told = vars(record)  # with what the loop passed as `extra`
        if told.get("experiment") != self.label:
            return
        step, self.total = told["step"], told["total"]
        if not self._opened:
            self.known, self._opened = step, True
        now = time.monotonic()
        if step == self.total or now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            print(f"{self.label}: {step} of {self.total} runs", flush=True)


def main(order: str) -> int:
    """Compute what an order asks for; return 0, or 1 after a sentence about what is wrong."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    die_with_parent()
    asked = json.loads(order)
    lines = Lines(asked["name"])
    logger = logging.getLogger("running.progress")
    logger.addHandler(lines)
    logger.setLevel(logging.INFO)
    torch.set_num_threads(asked["jobs"])
    kept = StoredCache.ordered(asked["cache"])
    if asked.get("scheduler"):
        os.environ[SCHEDULER] = asked["scheduler"]
    started = time.monotonic()
    try:
        with cache.attached(kept):
            if "grid" in asked:
                grid = read_grid(Path(asked["grid"]), kept.device)
                sweep.run(grid.function, grid.configurations, label=asked["name"])
            else:
                runs.complete(asked["name"], Path(asked["root"]), kept.sources)
    except KeyboardInterrupt:
        print("Cancelled.", file=sys.stderr)
        return 1
    except Exception as error:  # whatever a run may raise: the sweep has to name it
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        kind = "" if isinstance(error, BookError) else f"{type(error).__name__}: "
        print(f"{kind}{error}{notes}", file=sys.stderr)
        return 1
    computed = lines.total - lines.known
    seconds = time.monotonic() - started
    print(f"{computed} runs computed in {seconds:.0f} s, {lines.known} were in the store")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
