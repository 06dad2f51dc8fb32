"""One notebook, executed by papermill in a kernel of its own."""

import os
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import nbformat
import papermill
import psutil
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner
from jupyter_core.utils import ensure_event_loop
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from bookbuild.errors import BookError
from bookbuild.reporting.expressions import TAG
from bookbuild.results.snapshot import sources
from bookbuild.settings import BuildSettings
from bookbuild.source.chapters import INJECTED, tags

from .fork_server import ForkServer

LONGEST = 78  # bytes of a folder for sockets, whose paths may have 103 on macOS
SECONDS_TO_END = 60.0  # which a kernel has to tell what it used

papermill.log.logger.disabled = True  # what it would say is in the notebook, and in our log


class Forked(psutil.Process):
    """A kernel that a server has forked; to Jupyter it is a `subprocess.Popen` without pipes."""

    stdin = stdout = stderr = None

    def poll(self) -> int | None:
        """Return None while the kernel runs; with which code it ended is not known."""
        return None if self.is_running() else 1


class Provisioner(LocalProvisioner):
    """Jupyter asks this for a kernel: a server forks it."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Fork a kernel, which takes over the arguments of a command."""
        number = kwargs["server"].fork(cmd, kwargs["env"], kwargs["cwd"], kwargs["log"])
        self.process, self.pid, self.pgid = Forked(number), number, number
        return self.connection_info


class Manager(AsyncKernelManager):
    """Jupyter's manager of a forked kernel."""

    kernel_spec = KernelSpec(argv=["-f", "{connection_file}"])
    options: ClassVar[Mapping[str, Any]] = {}  # of `Provisioner.launch_kernel`

    def start_kernel(self, *arguments: Any, **more: Any) -> Any:
        """Return what starts the kernel when it is awaited."""
        self.provisioner = Provisioner(parent=self, kernel_spec=self.kernel_spec)
        return super().start_kernel(*arguments, **self.options, **more)


def execute(
    notebook: nbformat.NotebookNode,
    output: Path,
    log_file: Path,
    server: ForkServer,
    environment: Mapping[str, str],
    settings: BuildSettings,
) -> dict[str, Any]:
    """Execute a notebook; return nothing, or the cause of a failure and its cell.

    The kernel finds this environment beside that of its server. What it prints aside of the
    notebook goes into the log. It is reached over sockets: kernels that start at once may draw the
    same TCP ports.
    """
    with tempfile.TemporaryDirectory(prefix="kernel-", dir=_folder_of_sockets()) as runtime:
        options = {
            "server": server,
            "cwd": str(sources(settings).parent),
            "env": {**server.environment, **environment, "JUPYTER_RUNTIME_DIR": runtime},
            "log": str(log_file),
        }
        source = Path(runtime, "input.ipynb")
        nbformat.write(notebook, source)
        files = {"connection_file": f"{runtime}/kernel.json", "ip": f"{runtime}/kernel"}
        manager = {"transport": "ipc", "shutdown_wait_time": SECONDS_TO_END, **files}
        try:
            papermill.execute_notebook(
                *(str(path).replace("{", "{{").replace("}", "}}") for path in (source, output)),
                parameters=settings.parameters,
                progress_bar=False,
                execution_timeout=settings.timeout,
                kernel_manager_class=type(Manager.__name__, (Manager,), {"options": options}),
                config=Config({"KernelManager": manager}),
            )
        except Exception as error:  # whatever it is, the build has to name it
            with log_file.open("a", encoding="utf-8") as log:
                traceback.print_exc(file=log)
            return _where(output) | {"cause": _cause(error, settings.timeout)}
        finally:
            ensure_event_loop().close()  # that of this thread, in which all of this ran
    return {}


def _folder_of_sockets() -> str:
    """Return a folder whose path leaves room for names of sockets; BookError if there is none."""
    for folder in (tempfile.gettempdir(), "/tmp", "/var/tmp"):
        if len(os.fsencode(folder)) <= LONGEST and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise BookError(f"TMPDIR must name a folder of at most {LONGEST} characters, for sockets.")


def _where(notebook_file: Path) -> dict[str, Any]:
    """Return the last code cell that was started, or the prose whose expressions it evaluates."""
    if not notebook_file.is_file():
        return {}
    found: dict[str, Any] = {}
    number = 0
    for cell in nbformat.read(notebook_file, as_version=4).cells:
        names = tags(cell)
        if cell.cell_type != "code" or INJECTED in names:
            continue
        number += TAG not in names
        if cell.metadata.get("papermill", {}).get("start_time"):
            line = cell.source.strip().partition("\n")[0]
            prose = cell.id.removeprefix(f"{TAG}-")
            found = {"prose": prose} if TAG in names else {"cell": number, "line": line}
    return found


def _cause(error: Exception, timeout: object) -> str:
    if isinstance(error, PapermillExecutionError):
        return f"{error.ename}: {error.evalue.strip().partition(chr(10))[0]}"
    if isinstance(error, CellTimeoutError):
        return f"it took longer than the time-out of {timeout} s"
    if isinstance(error, DeadKernelError):
        return "its kernel died"
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
