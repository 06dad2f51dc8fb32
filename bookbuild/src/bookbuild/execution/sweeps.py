"""Completion of a file of stored runs: what it lacks is computed, each run kept as it ends.

That happens in a process of its own: python -m bookbuild.execution.sweeps ORDER.
"""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bookbuild.errors import BookError
from bookbuild.processes import die_with_parent, sources_first
from bookbuild.reporting.provenance import commit, versions
from bookbuild.results import cache
from bookbuild.results.snapshot import SOURCES, frozen, sources
from bookbuild.results.store import Store
from bookbuild.settings import Settings
from running.cache import attached
from running.records import Entry

from .execute import tidy
from .runs import File, Recording, file_of

COMMAND = (sys.executable, "-m", __name__)


def run_stored(
    name: str, settings: Settings, scheduler: str | None, minutes: int | None = None
) -> list[Any]:
    """Compute what a file of stored runs lacks, for so many minutes; return what is left.

    It is computed on sources that an edit cannot reach. Raises BookError where that fails.
    """
    file = file_of(name, settings.root)
    File(file, settings.root, sources(settings))  # a damaged one is told at once
    tidy(settings)
    Store(settings.results).check()
    with frozen(settings) as copied:
        order = {
            "root": str(settings.root),
            "name": name,
            "scheduler": scheduler,
            "jobs": settings.jobs,
            "cache": cache.order_of(copied, {}),
        }
        process = subprocess.Popen(
            [*COMMAND, json.dumps(order)], env=sources_first(sources(copied))
        )
        try:
            failed = process.wait(None if minutes is None else 60.0 * minutes) != 0
        except subprocess.TimeoutExpired:
            failed = False
        finally:
            process.terminate()
            process.wait()
    if failed:
        raise BookError(
            "The stored runs are not complete: run the command again to continue; what is "
            "finished is kept."
        )
    return File(file, settings.root, sources(settings)).lacking


def complete(name: str, root: Path, src: Path) -> None:
    """Compute what a file lacks, through the cache in use, and write it after each run."""
    from running import sweep
    from running.executors import default_executor

    file, computed = File(file_of(name, root), root, src), 0
    lacking = file.lacking
    made_at, of = commit(root, below=SOURCES), versions(file.runs.packages)

    def keep(configuration: Any, result: Any, seconds: float | None, machine: str | None) -> None:
        nonlocal computed
        date = datetime.now(UTC).isoformat(timespec="seconds")
        file.keep(Entry(configuration, file.code, made_at, machine, of, seconds, date, result))
        computed += machine is not None
        print(f"{name}: {len(lacking) - len(file.lacking)} of {len(lacking)} runs", flush=True)

    begun = time.monotonic()
    with default_executor() as pool:
        results = sweep.run(file.runs.bound(root), lacking, Recording(pool, keep), label=name)
    for configuration, result in zip(lacking, results, strict=True):
        if configuration in file.lacking:  # the cache had it
            keep(configuration, result, None, None)
    print(
        f"{computed} runs computed in {time.monotonic() - begun:.0f} s, "
        f"{len(lacking) - computed} were in the store"
    )


def main(order: str) -> int:
    """Compute what an order asks for; return 0, or 1 after a sentence about what is wrong."""
    import torch

    from running.executors import SCHEDULER

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    die_with_parent()
    asked = json.loads(order)
    torch.set_num_threads(asked["jobs"])
    kept = cache.StoredCache.ordered(asked["cache"])
    if asked["scheduler"]:
        os.environ[SCHEDULER] = asked["scheduler"]
    try:
        with attached(kept):
            complete(asked["name"], Path(asked["root"]), kept.sources)
    except KeyboardInterrupt:
        print("Cancelled.", file=sys.stderr)
        return 1
    except Exception as error:  # whatever a run may raise: the sweep has to name it
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        kind = "" if isinstance(error, BookError) else f"{type(error).__name__}: "
        print(f"{kind}{error}{notes}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
