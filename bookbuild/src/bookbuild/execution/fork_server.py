"""Fork server: a process that loads slow libraries once and forks the kernels of chapters.

Usage: python -m bookbuild.execution.fork_server LIBRARY ...; it reads lines, each with the
arguments of `_become_a_kernel`, and answers with the number of the new process.
"""

import atexit
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import psutil
from ipykernel import kernelapp

from bookbuild.processes import kill, sources_first
from bookbuild.results.snapshot import sources
from bookbuild.settings import BuildSettings

BOOK = BuildSettings.__module__.partition(".")[0]  # this module is called __main__ in the server
COMMAND = [sys.executable, "-m", __name__]
INLINE = "module://matplotlib_inline.backend_inline"
# Loading one of these takes a third of a second or more, and changes nothing.
SLOW = (
    "matplotlib.pyplot", "scipy.integrate", "scipy.optimize", "scipy.stats", "sympy", "torch",
)  # fmt: skip
FORKS = sys.platform == "linux"  # elsewhere libraries do not survive it


class ForkServer:
    """The build's side of the server, whose kernels all have as many threads."""

    def __init__(self, packages: Collection[str], settings: BuildSettings) -> None:
        """Start the server; what is slow of some packages is loaded before the first kernel."""
        self.environment = _environment(settings)
        slow = [name for name in SLOW if name.partition(".")[0] in packages]
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [*COMMAND, *slow],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=self.environment,
            cwd=self.environment["MPLCONFIGDIR"],  # no file of a user is here
            # Ctrl-C reaches the build alone, which then kills its processes in order.
            start_new_session=True,
        )
        self.pid = self._process.pid

    def fork(
        self, arguments: Sequence[str], environment: Mapping[str, str], folder: str, log: str
    ) -> int:
        """Fork a kernel and return its number; raise BrokenPipeError where the server has ended."""
        order = json.dumps([arguments, environment, folder, log])
        assert self._process.stdin
        assert self._process.stdout
        with self._lock:
            print(order, file=self._process.stdin, flush=True)
            number = self._process.stdout.readline()
        if not number:
            raise BrokenPipeError("the fork server has ended")
        return int(number)

    def kill(self) -> None:
        """Kill the server, the kernels, and whatever those started."""
        with suppress(psutil.NoSuchProcess):
            kill(psutil.Process(self.pid))
        self._process.communicate()


def _environment(settings: BuildSettings) -> dict[str, str]:
    """Return the environment of all chapters that have as many threads."""
    drawing, folder = find_spec("matplotlib"), settings.build / "matplotlib"
    defaults = Path(str(drawing and drawing.origin)).with_name("mpl-data") / "matplotlibrc"
    folder.mkdir(parents=True, exist_ok=True)
    return sources_first(sources(settings)) | {
        # drawings begin with Matplotlib's own defaults, and know no styles of a user
        "MATPLOTLIBRC": str(defaults),
        "MPLCONFIGDIR": str(folder),
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": str(settings.threads_each),
        "MPLBACKEND": INLINE,  # as in every notebook; here it is read before there is one
        "JPY_PARENT_PID": "1",  # what watches its parent for a kernel would leave its children
        # glibc hands freed arrays back to the kernel; asking again for each training step's costs
        # up to a third of the step in page faults, and small pages up to a fifth
        "MALLOC_TRIM_THRESHOLD_": str(2**33),
        "MALLOC_MMAP_THRESHOLD_": str(2**25),
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    }


def main(libraries: Collection[str]) -> int:
    """Fork kernels until the input ends, which it does with the build, however that ends."""
    for name in libraries if FORKS else ():
        with suppress(ImportError):  # the chapter that needs it names the error
            importlib.import_module(name)
    gc.freeze()  # so that no collection copies pages that are shared
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system forgets what has ended
    for line in sys.stdin:
        number = os.fork()
        if not number:
            _become_a_kernel(*json.loads(line))
        print(number, flush=True)
    return 0


def _become_a_kernel(
    arguments: Sequence[str], environment: Mapping[str, str], folder: str, log: str
) -> None:
    """Run a kernel until this process ends, with everything that the server has loaded."""
    os.setsid()  # Jupyter signals a kernel and what it started as one group
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with Path(os.devnull).open("rb") as nothing, Path(log).open("ab") as file:
        for number, target in enumerate((nothing, file, file)):
            os.dup2(target.fileno(), number)
    os.chdir(folder)
    if not FORKS:
        os.execve(
            sys.executable, [sys.executable, "-m", "ipykernel_launcher", *arguments], environment
        )
    sys.argv = [BOOK, *arguments]
    os.environ.clear()
    os.environ.update(environment)
    if not sys.flags.safe_path:
        del sys.path[0]  # where the server was started; Jupyter puts the kernel's folder there
    for name in [name for name in sys.modules if name.partition(".")[0] == BOOK]:
        del sys.modules[name]  # loaded again, so that its clocks start with the kernel
    try:
        kernelapp.launch_new_instance()
    finally:  # nothing is left to clean up, and unloading modules takes time
        atexit._run_exitfuncs()
        os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
