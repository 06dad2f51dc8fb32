"""Process that computes one stored run again: python -m bookbuild.execution.again ORDER."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bookbuild.errors import BookError
from bookbuild.processes import die_with_parent, ran, sources_first
from bookbuild.results.machine import pin
from bookbuild.results.snapshot import sources
from bookbuild.results.store import Store
from bookbuild.settings import Settings

from .runs import StoredRun, stored_run, stored_runs


def run_again(run: StoredRun, settings: Settings, seconds: float) -> Mapping[str, bytes]:
    """Compute a stored run that this repository declares, in a process with one thread.

    Raises BookError with the last line of what went wrong, TimeoutError after so many seconds.
    """
    src = sources(settings)
    with tempfile.TemporaryDirectory() as out:
        order = {"key": run.stored.key, "root": str(settings.root), "src": str(src), "out": out}
        try:
            command = [sys.executable, "-m", __name__, json.dumps(order)]
            done = ran(command, env=sources_first(src), timeout=seconds)
        except subprocess.TimeoutExpired as late:
            raise TimeoutError(f"{run.name} took longer than {seconds} s") from late
        found, _ = Store(Path(out)).get(run.stored.key)
    if found is None:
        last = done.stderr.strip().splitlines() or ["it ended"]
        raise BookError(f"{run.name} failed: {last[-1]}")
    return found.files


def main(order: str) -> int:
    """Compute the stored run that an order names by its key, into a store in a folder."""
    asked = json.loads(order)
    root, src = Path(asked["root"]), Path(asked["src"])
    (run,) = (run for run in stored_runs(root, src) if run.stored.key == asked["key"])
    die_with_parent()
    import torch

    torch.set_num_threads(1)
    pin("cpu")
    entry = run.entry._replace(result=run.function(run.entry.configuration))
    made = stored_run(run.file, entry)
    Store(Path(asked["out"])).put(made.key, made.kind, made.name, made.origin, made.files)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
