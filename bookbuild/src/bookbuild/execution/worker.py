"""Process that executes one notebook: python -m bookbuild.execution.worker FOLDER.

Its kernel is forked instead of started where it was forked itself, with all that was loaded there.
"""

import asyncio
import atexit
import json
import os
import resource
import sys
import tempfile
import traceback
from contextlib import suppress
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import nbformat
import papermill
import psutil
from ipykernel import kernelapp
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from bookbuild.processes import die_with_parent
from bookbuild.results.executed import NOTEBOOK_FILE

BOOK = __name__.partition(".")[0]
KERNEL = "python3"
ORDER_FILE, INPUT_FILE, END_FILE, LOG_FILE = "order.json", "input.ipynb", "end.json", "log.txt"
GPU_FILE = "gpu.json"  # what the kernel used of a GPU, if it used one
ENTRY = "entry"  # the folder of what becomes the chapter's entry


def main(folder: str, *, forks: bool = False) -> int:
    """Execute the notebook in a folder as its order says, in a kernel forked or started.

    Returns 0, or 1. How it ended is in a file beside the order: what the kernel
    used, or the cause of a failure and its cell.
    """
    place = Path(folder)
    order = json.loads((place / ORDER_FILE).read_text(encoding="utf-8"))
    with Path(os.devnull).open("rb") as nothing, (place / LOG_FILE).open("wb") as log:
        for stream, target in ((sys.stdin, nothing), (sys.stdout, log), (sys.stderr, log)):
            os.dup2(target.fileno(), stream.fileno())
    os.environ.update(order["environment"])
    if forks:
        factory = KernelProvisionerFactory.instance()
        name = factory.default_provisioner_name
        ours = f"{__name__}:{Provisioner.__name__}"
        factory.provisioners[name] = EntryPoint(name, ours, factory.GROUP_NAME)
    die_with_parent()
    with tempfile.TemporaryDirectory(prefix="kernel-", dir=order["sockets"]) as runtime:
        os.environ["JUPYTER_RUNTIME_DIR"] = runtime
        output = place / ENTRY / NOTEBOOK_FILE
        try:
            _execute(place / INPUT_FILE, output, order, f"{runtime}/kernel")
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            end = {"memory": peak * (1 if sys.platform == "darwin" else 1024)}
            with suppress(FileNotFoundError):
                end |= json.loads((place / GPU_FILE).read_text(encoding="utf-8"))
        except Exception as error:  # whatever it is, the build has to name it
            end = _where(output) | {"cause": _cause(error, order["timeout"])}
            traceback.print_exc()
    (place / END_FILE).write_text(json.dumps(end), encoding="utf-8")
    return int("cause" in end)


def _execute(notebook: Path, output: Path, order: dict[str, Any], socket: str) -> None:
    """Run papermill over sockets: kernels that start at once may draw the same TCP ports."""
    papermill.execute_notebook(
        *(str(path).replace("{", "{{").replace("}", "}}") for path in (notebook, output)),
        parameters=order["parameters"],
        cwd=order["folder"],
        kernel_name=KERNEL,
        progress_bar=False,
        log_output=True,
        execution_timeout=order["timeout"],
        config=Config({"KernelManager": {"transport": "ipc", "ip": socket}}),
    )


def _where(notebook_file: Path) -> dict[str, Any]:
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


class Forked(psutil.Process):
    """A kernel as a child of this process; to Jupyter it is a `subprocess.Popen` without pipes."""

    stdin = stdout = stderr = None

    def poll(self) -> int | None:
        """Return the code with which the kernel ended, or None while it runs."""
        try:
            return self.wait(0)
        except psutil.TimeoutExpired:
            return None


class Provisioner(LocalProvisioner):
    """Jupyter asks this for a kernel: it forks one of this very Python."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Fork a kernel, which takes over the arguments of a command."""
        number = os.fork()
        if not number:
            _become_a_kernel(cmd[2:], kwargs["env"], kwargs.get("cwd") or os.getcwd())
        self.process, self.pid, self.pgid = Forked(number), number, number
        return self.connection_info


def _become_a_kernel(arguments: list[str], environment: dict[str, str], folder: str) -> None:
    """Run a kernel until this process ends, with everything that its parent has loaded."""
    os.setsid()  # Jupyter signals a kernel and what it started as one group
    # A kernel ends with its parent, which Jupyter looks up in an environment that was another.
    sys.argv = [*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"]
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    if not sys.flags.safe_path:
        del sys.path[0]  # where the build was started; Jupyter puts the kernel's folder there
    for name in [name for name in sys.modules if name.partition(".")[0] == BOOK]:
        del sys.modules[name]  # loaded again, so that its clocks start with the kernel
    asyncio.set_event_loop(asyncio.new_event_loop())  # the other one runs in the parent
    try:
        kernelapp.launch_new_instance()
    finally:  # what called this is the parent's
        atexit._run_exitfuncs()
        os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
