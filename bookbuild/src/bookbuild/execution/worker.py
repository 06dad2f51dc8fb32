"""Process that executes one notebook: python -m bookbuild.execution.worker FOLDER."""

import json
import os
import sys
import tempfile
import traceback
from pathlib import Path

import nbformat
import papermill
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from bookbuild.processes import die_with_parent

from . import kernel
from .usage import used

ORDER_FILE = "order.json"
LOG_FILE = "log.txt"


def main(folder: str, *, forks: bool = False) -> int:
    """Execute the notebook that the order in a folder names, in a kernel forked or started.

    Returns 0, or 1 with the cause in the file that the order names.
    """
    order = json.loads(Path(folder, ORDER_FILE).read_text(encoding="utf-8"))
    _redirect(Path(folder, LOG_FILE))
    os.environ.update(order["environment"])
    if forks:
        kernel.fork()
    die_with_parent()
    with tempfile.TemporaryDirectory(prefix="kernel-", dir=order["sockets"]) as runtime:
        os.environ["JUPYTER_RUNTIME_DIR"] = runtime
        try:
            _execute(order, f"{runtime}/kernel")
            told = json.dumps(used(Path(order["gpu"])))
            Path(order["usage"]).write_text(told, encoding="utf-8")
        except Exception as error:  # whatever it is, the build has to name it
            failure = _where(Path(order["output"])) | {"cause": _cause(error, order["timeout"])}
            Path(order["failure"]).write_text(json.dumps(failure), encoding="utf-8")
            traceback.print_exc()
            return 1
    return 0


def _redirect(log_file: Path) -> None:
    """Take nothing in, and write what is told to a file."""
    with Path(os.devnull).open("rb") as nothing, log_file.open("wb") as log:
        for stream, target in ((sys.stdin, nothing), (sys.stdout, log), (sys.stderr, log)):
            os.dup2(target.fileno(), stream.fileno())


def _execute(order: dict[str, object], socket: str) -> None:
    """Run papermill over sockets: kernels that start at once may draw the same TCP ports."""
    places = (str(order[name]) for name in ("input", "output"))
    papermill.execute_notebook(
        *(place.replace("{", "{{").replace("}", "}}") for place in places),  # they are templates
        parameters=order["parameters"],
        cwd=order["folder"],
        kernel_name=order["kernel"],
        progress_bar=False,
        log_output=True,
        execution_timeout=order["timeout"],
        config=Config({"KernelManager": {"transport": "ipc", "ip": socket}}),
    )


def _where(notebook_file: Path) -> dict[str, object]:
    """Return the number and first line of the last code cell that was started."""
    if not notebook_file.is_file():
        return {}
    cells = [
        cell
        for cell in nbformat.read(notebook_file, as_version=4).cells
        if cell.cell_type == "code" and "injected-parameters" not in cell.metadata.get("tags", [])
    ]
    started = [
        {"cell": number, "line": cell.source.strip().partition("\n")[0]}
        for number, cell in enumerate(cells, start=1)
        if cell.metadata.get("papermill", {}).get("start_time")
    ]
    return started[-1] if started else {}


def _cause(error: Exception, timeout: object) -> str:
    """Return what went wrong, on one line."""
    if isinstance(error, PapermillExecutionError):
        return f"{error.ename}: {error.evalue.strip().partition(chr(10))[0]}"
    if isinstance(error, CellTimeoutError):
        return f"it took longer than the time-out of {timeout} s"
    if isinstance(error, DeadKernelError):
        return "its kernel died"
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
