"""One notebook, executed by papermill in a kernel of its own."""

import os
import sys
import tempfile
import traceback
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, STDOUT
from typing import Any, ClassVar

import nbformat
import papermill
import psutil
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from bookbuild.errors import BookError
from bookbuild.processes import kill, sources_first
from bookbuild.results.snapshot import sources
from bookbuild.settings import Settings

PROGRAM = "ipykernel_launcher"
COMMAND = [sys.executable, "-m", PROGRAM, "-f", "{connection_file}"]
INLINE = "module://matplotlib_inline.backend_inline"
LONGEST = 78  # bytes of a folder for sockets, whose paths may have 103 on macOS
SECONDS_TO_END = 60.0  # which a kernel has to tell what it used

papermill.log.logger.disabled = True  # what it would say is in the notebook, and in our log


class Manager(AsyncKernelManager):
    """Jupyter's manager of a kernel of this very Python; `options` are those of `Popen`."""

    options: ClassVar[Mapping[str, Any]] = {}
    kernel_spec = KernelSpec(argv=COMMAND)

    async def start_kernel(self, **more: Any) -> None:
        """Start the kernel."""
        await super().start_kernel(**self.options, **more)


def execute(
    notebook: nbformat.NotebookNode,
    output: Path,
    log_file: Path,
    settings: Settings,
    environment: Mapping[str, str],
) -> dict[str, Any]:
    """Execute a notebook; return nothing, or the cause of a failure and its cell.

    The kernel finds this environment beside what all find. What it prints aside of the notebook
    goes into the log. It is reached over sockets: kernels that start at once may draw the same
    TCP ports.
    """
    place = tempfile.TemporaryDirectory(prefix="kernel-", dir=_folder_of_sockets())
    with log_file.open("w", encoding="utf-8") as log, place as runtime:
        files = {"connection_file": f"{runtime}/kernel.json", "ip": f"{runtime}/kernel"}
        manager = {"transport": "ipc", "shutdown_wait_time": SECONDS_TO_END, **files}
        options = {
            "cwd": sources(settings).parent,
            "env": _environment(settings) | environment | {"JUPYTER_RUNTIME_DIR": runtime},
            **{"stdin": DEVNULL, "stdout": log, "stderr": STDOUT, "independent": True},
        }
        try:
            papermill.execute_notebook(
                notebook,
                str(output).replace("{", "{{").replace("}", "}}"),
                parameters=settings.parameters,
                progress_bar=False,
                execution_timeout=settings.timeout,
                kernel_manager_class=type(Manager.__name__, (Manager,), {"options": options}),
                config=Config({"KernelManager": manager}),
            )
        except Exception as error:  # whatever it is, the build has to name it
            traceback.print_exc(file=log)
            return _where(output) | {"cause": _cause(error, settings.timeout)}
    return {}


def kill_all() -> None:
    """Kill the kernels that this process has started, and whatever those started."""
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):
            if PROGRAM in child.cmdline():
                kill(child)


def _environment(settings: Settings) -> dict[str, str]:
    """Return the environment of all chapters that have as many threads."""
    drawing, own = find_spec("matplotlib"), settings.build / "matplotlib"
    defaults = Path(str(drawing and drawing.origin)).with_name("mpl-data") / "matplotlibrc"
    own.mkdir(parents=True, exist_ok=True)
    return sources_first(sources(settings)) | {
        # drawings begin with Matplotlib's own defaults, and know no styles of a user
        "MATPLOTLIBRC": str(defaults),
        "MPLCONFIGDIR": str(own),
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": str(settings.threads_each),
        "MPLBACKEND": INLINE,  # as in every notebook
        # glibc hands freed arrays back to the kernel; asking again for each training step's costs
        # up to a third of the step in page faults, and small pages up to a fifth
        "MALLOC_TRIM_THRESHOLD_": str(2**33),
        "MALLOC_MMAP_THRESHOLD_": str(2**25),
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    }


def _folder_of_sockets() -> str:
    """Return a folder whose path leaves room for names of sockets; BookError if there is none."""
    for folder in (tempfile.gettempdir(), "/tmp", "/var/tmp"):
        if len(os.fsencode(folder)) <= LONGEST and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise BookError(f"TMPDIR must name a folder of at most {LONGEST} characters, for sockets.")


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
