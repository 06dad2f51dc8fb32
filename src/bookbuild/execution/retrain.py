"""Process that computes one stored training again: python -m bookbuild.execution.retrain ORDER."""

import importlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints

from bookbuild.errors import BookError
from bookbuild.processes import die_with_parent, sources_first
from bookbuild.results.keys import digest
from bookbuild.results.machine import pin
from bookbuild.results.store import Store
from bookbuild.results.values import to_files
from running.records import made_again


def train_again(
    task: Mapping[str, Any], sources: Path, device: str = "cpu", *, seconds: float | None = None
) -> dict[str, bytes]:
    """Compute a task in a process of its own, with one thread, as a sweep does.

    Raises BookError with the last line of what went wrong, TimeoutError after so many seconds.
    """
    with tempfile.TemporaryDirectory() as folder:
        order = json.dumps({"task": task, "folder": folder, "device": device})
        try:
            done = subprocess.run(
                [sys.executable, "-m", __name__, order],
                env=sources_first(sources),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            raise TimeoutError(f"{task['function']} took longer than {seconds} s") from late
        stored, _ = Store(Path(folder)).get(digest(task))
    if stored is None:
        last = done.stderr.decode(errors="replace").strip().splitlines() or ["it ended"]
        raise BookError(f"{task['module']}.{task['function']} failed: {last[-1]}")
    return dict(stored.files)


def configured(task: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the function of a task and its configuration, made of the plain values again.

    Raises BookError where they do not lead back to what was stored.
    """
    function = getattr(importlib.import_module(task["module"]), task["function"])
    (value,) = task["configuration"].values()
    hints = get_type_hints(function)
    hints.pop("return", None)
    (hint,) = hints.values()
    try:
        return function, made_again(hint, value)
    except (TypeError, ValueError) as error:
        name = f"{task['module']}.{task['function']}"
        raise BookError(
            f"The configuration of {name} cannot be made again from what was stored: {error}."
        ) from error


def main(order: str) -> int:
    """Compute the task of an order into a store in the folder that it names."""
    asked = json.loads(order)
    task = asked["task"]
    die_with_parent()
    import torch

    torch.set_num_threads(1)
    pin(asked["device"])
    function, configuration = configured(task)
    files = to_files(function(configuration))
    Store(Path(asked["folder"])).put(digest(task), "sweep", task["function"], {}, files)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
