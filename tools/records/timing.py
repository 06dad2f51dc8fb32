"""What stored runs take of which nobody wrote down the seconds, estimated from their first steps.

Each training of such a run makes as many steps as fit into a few seconds, and the time of a step is
multiplied by their number. A run that was computed from scratch here has been timed whole instead.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from bookbuild.costs import ESTIMATES, declaration_of
from bookbuild.execution.runs import StoredRun, stored_runs
from bookbuild.published.scratch import FOLDER
from bookbuild.reporting.provenance import commit
from bookbuild.results.machine import machine_name
from bookbuild.results.snapshot import SOURCES
from bookbuild.results.store import write_whole
from bookbuild.schema import load
from running import loop
from running.cache import Task
from running.records import written

FEWEST = 3  # steps of a training, however long they take
# How many steps a run took of which the limit alone is declared, by its file and its result.
TAKEN: Mapping[str, Callable[[Any], int]] = {
    "data/companions/factual_recall.json": lambda result: result["steps"],
    "data/companions/k_hop.json": lambda result: result["moments"][-1],
}

# A search: how many trainings follow depends on what the last has learned, so none is shortened.
SEARCHES = ("data/companions/associative_memories.json",)


class Shortened:
    """Trainings that end after some seconds, and what they would have taken besides."""

    def __init__(self, seconds: float, taken: int | None) -> None:
        """Shorten trainings to `seconds`; they are known to take `taken` steps, or their total."""
        self.seconds, self.taken = seconds, taken
        self.saved = 0.0
        self.cut = False

    def __call__(self, task: Task, total: int, label: str, **_: Any) -> Iterator[int]:
        """Yield the first steps of a training, in the place of `loop.steps`."""
        wanted = total if self.taken is None else min(total, self.taken)
        begun = first = time.process_time()
        for step in range(wanted):
            yield step
            now = time.process_time()
            if step == 0:
                first = now  # the first step also allocates
            if step + 1 >= FEWEST and now - begun > self.seconds and step + 1 < wanted:
                self.saved += (now - first) / step * (wanted - step - 1)
                self.cut = True
                return


def record_timings(root: Path, seconds: float, most: float, tell: Callable[[str], None]) -> Path:
    """Estimate what each run takes that was not timed, and write the record after each.

    Args:
        root: of the book.
        seconds: of one core, that each training of a run gets.
        most: seconds of one core, after which no other run is begun; a second call goes on.
        tell: hears of each run.
    """
    path, begun = root / ESTIMATES, time.process_time()
    record = load(path, ESTIMATES) if path.is_file() else {"runs": {}}
    record |= {"machine": machine_name(), "commit": commit(root, below=SOURCES)}
    record["date"] = datetime.now(UTC).date().isoformat()
    again = _made_from_scratch(root)
    torch.set_num_threads(1)
    for run in stored_runs(root, root / SOURCES):
        key = _declared(run)
        if run.entry.seconds is not None or (key in record["runs"] and key not in again):
            continue
        if key in again:
            taken, part = again[key], "whole"
        elif run.file in SEARCHES or time.process_time() - begun > most:
            continue
        else:
            taken, part = estimated(run, seconds)
        record["runs"][key] = {"name": run.name, "seconds": round(taken, 1), "timed": part}
        tell(f"{run.name}: {taken:.0f} s, {part}")
        write_whole(path, (json.dumps(record, indent=1) + "\n").encode())
    return path


def estimated(run: StoredRun, seconds: float) -> tuple[float, str]:
    """Return what a run takes in seconds of one core, and of what that is known."""
    known = TAKEN.get(run.file)
    shortened = Shortened(seconds, known(run.entry.result) if known else None)
    begun, failed = time.process_time(), ""
    with _in_place_of_steps(shortened):
        try:
            run.function(run.entry.configuration)
        except Exception as error:  # what a few steps have made need not be fit to be measured
            failed = f", ended by {type(error).__name__}"
    taken = time.process_time() - begun + shortened.saved
    return taken, ("from the first steps" if shortened.cut else "whole") + failed


@contextmanager
def _in_place_of_steps(shortened: Shortened) -> Iterator[None]:
    """Have trainings take their steps from here."""
    steps = loop.steps
    loop.steps = shortened
    try:
        yield
    finally:
        loop.steps = steps


def _declared(run: StoredRun) -> str:
    """Return the digest of a run's declaration, of its configuration as the file has it."""
    (line,) = json.loads(written([run.entry]))
    return declaration_of(run.file, line["configuration"])


def _made_from_scratch(root: Path) -> dict[str, float]:
    """Return the seconds of the runs that were computed from scratch here."""
    scratch = root / FOLDER
    found = stored_runs(scratch, root / SOURCES) if scratch.is_dir() else ()
    return {_declared(run): run.entry.seconds for run in found if run.entry.seconds is not None}
