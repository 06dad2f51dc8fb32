"""Run a notebook with another Python and say what it took."""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import nbformat
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

PEAK = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"


class Cost(NamedTuple):
    """What a notebook took: seconds, and mebibytes of memory at the peak of its kernel."""

    seconds: float
    memory: float


def run(notebook: Path, *, python: Path, folder: Path, environment: Mapping[str, str]) -> Cost:
    """Execute a notebook, kernel and cells alone; raise CellExecutionError where a cell fails."""
    specs = folder.parent / "kernels"
    _write_spec(specs / "python3", python)
    manager = KernelManager(
        kernel_name="python3", kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(specs)])
    )
    read = nbformat.read(notebook, as_version=4)
    read.cells.append(new_code_cell(PEAK))
    began = time.monotonic()
    client = NotebookClient(read, km=manager, timeout=1800)
    quiet = {"PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    try:
        client.execute(cwd=str(folder), env=dict(environment) | quiet)
    finally:
        if manager.has_kernel:
            manager.shutdown_kernel(now=True)
    peak = float(read.cells[-1].outputs[0].text)
    return Cost(time.monotonic() - began, peak / 1024)


def bare_environment(home: Path) -> dict[str, str]:
    """Return this process's environment without what points at this checkout."""
    dropped = ("PYTHONPATH", "VIRTUAL_ENV", "MPLBACKEND", "JUPYTER_PATH", "IPYTHONDIR")
    kept = {key: value for key, value in os.environ.items() if key not in dropped}
    return kept | {"HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}


def _write_spec(folder: Path, python: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Python 3", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
