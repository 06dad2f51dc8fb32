"""Process that computes one stored training again: python -m bookbuild.execution.retrain ORDER."""

import importlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

from bookbuild.errors import BookError
from bookbuild.processes import die_with_parent, sources_first
from bookbuild.results.code.modules import Sources
from bookbuild.results.keys import digest
from bookbuild.results.machine import pin
from bookbuild.results.store import Store
from bookbuild.results.values import to_files
from running.records import made_again

BUILDER = __name__.partition(".")[0]


def train_again(
    task: Mapping[str, Any], sources: Path, device: str = "cpu", *, seconds: float | None = None
) -> dict[str, bytes]:
    """Compute a task in a process of its own, with one thread, as a sweep does.

    Raises BookError with the last line of what went wrong, TimeoutError after so many seconds.
    """
    with tempfile.TemporaryDirectory() as folder:
        order = json.dumps(
            {"task": task, "folder": folder, "device": device, "sources": str(sources)}
        )
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


def configured(task: Mapping[str, Any], src: Path) -> tuple[Any, Any]:
    """Return the function of a task and its configuration, made of the plain values again.

    Published results come from strangers, so nothing is imported but a function that these sources
    define outside the builder, and it is given a dataclass. Raises BookError for anything else, and
    where the values do not lead back to what was stored.
    """
    module, name = str(task["module"]), str(task["function"])
    found = None if module.partition(".")[0] == BUILDER else Sources(src).find(module)
    if found is None or name not in found.defined:
        raise BookError(f"These sources define no {module}.{name} to be computed: it is not run.")
    function = getattr(importlib.import_module(module), name)
    try:
        (value,) = task["configuration"].values()
        hints = get_type_hints(function)
        hints.pop("return", None)
        (hint,) = hints.values()
        configuration = made_again(hint, value)
        if not is_dataclass(configuration):
            raise TypeError(f"{value!r:.60} is no configuration")
    except (TypeError, ValueError) as error:
        raise BookError(
            f"The configuration of {module}.{name} cannot be made again from what was stored: "
            f"{error}."
        ) from error
    return function, configuration


def main(order: str) -> int:
    """Compute the task of an order into a store in the folder that it names."""
    asked = json.loads(order)
    task = asked["task"]
    die_with_parent()
    import torch

    torch.set_num_threads(1)
    pin(asked["device"])
    function, configuration = configured(task, Path(asked["sources"]))
    files = to_files(function(configuration))
    Store(Path(asked["folder"])).put(digest(task), "sweep", task["function"], {}, files)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
