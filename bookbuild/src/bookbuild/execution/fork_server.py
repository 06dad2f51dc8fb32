"""Fork server: a process that loads slow libraries once and forks the workers of chapters.

Usage: python -m bookbuild.execution.fork_server LIBRARY ...; it reads lines, each a folder with an
order.
"""

import gc
import importlib
import os
import select
import subprocess
import sys
from collections.abc import Collection
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import psutil

from bookbuild.processes import sources_first
from bookbuild.results.snapshot import sources
from bookbuild.settings import Settings

from . import worker

COMMAND = [sys.executable, "-m", __name__]
CODE_FILE = "code"
INLINE = "module://matplotlib_inline.backend_inline"
SECONDS_BETWEEN_LOOKS = 0.02
# Loading one of these takes a third of a second or more, and changes nothing.
SLOW = (
    "matplotlib.pyplot", "scipy.integrate", "scipy.optimize", "scipy.stats", "sympy", "torch",
)  # fmt: skip
FORKS = sys.platform == "linux"  # elsewhere libraries do not survive it


class ForkServer:
    """The build's side of the server: it requests workers and reads how they ended."""

    def __init__(self, packages: Collection[str], settings: Settings) -> None:
        """Start the server; what is slow of some packages is loaded before the first worker.

        All chapters that it executes have as many threads as the settings say.
        """
        slow = [name for name in SLOW if name.partition(".")[0] in packages]
        environment = _environment(settings)
        self._process = subprocess.Popen(
            [*COMMAND, *slow],
            stdin=subprocess.PIPE,
            bufsize=0,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=environment["MPLCONFIGDIR"],  # no file of a user is here
            # Ctrl-C reaches the build alone, which then kills its processes in order.
            start_new_session=True,
        )

    def fork(self, folder: Path) -> None:
        """Fork a worker for the order in a folder; raise OSError where the server has ended."""
        assert self._process.stdin
        self._process.stdin.write(os.fsencode(folder) + b"\n")

    def code(self, folder: Path) -> int | None:
        """Return the code with which the worker of a folder ended, or None while it runs."""
        try:
            return int((folder / CODE_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):  # the worker runs, or the server has ended
            return self._process.poll()

    def kill(self) -> None:
        """Kill the server, the workers, their kernels, and whatever those started."""
        with suppress(psutil.NoSuchProcess):
            root = psutil.Process(self._process.pid)
            for process in [root, *root.children(recursive=True)]:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
        self._process.communicate()


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
        "MPLBACKEND": INLINE,  # as in every notebook; here it is read before there is one
        # glibc hands freed arrays back to the kernel; asking again for each training step's costs
        # up to a third of the step in page faults, and small pages up to a fifth
        "MALLOC_TRIM_THRESHOLD_": str(2**33),
        "MALLOC_MMAP_THRESHOLD_": str(2**25),
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    }


def main(libraries: Collection[str]) -> int:
    """Fork workers until the input ends, which it does with the build, however that ends."""
    for name in libraries if FORKS else ():
        with suppress(ImportError):  # the chapter that needs it names the error
            importlib.import_module(name)
    gc.freeze()  # so that no collection copies pages that are shared
    folders: dict[int, str] = {}
    unread = b""
    while True:
        if select.select([sys.stdin], [], [], SECONDS_BETWEEN_LOOKS)[0]:
            read = os.read(sys.stdin.fileno(), 2**16)
            if not read:
                return 0
            *lines, unread = (unread + read).split(b"\n")
            for folder in map(os.fsdecode, lines):
                folders[_fork(folder)] = folder
        while folders:  # tell which of them have ended
            number, status = os.waitpid(-1, os.WNOHANG)
            if not number:
                break
            with suppress(OSError):  # the build has gone, and its folders
                code = os.waitstatus_to_exitcode(status)
                Path(folders.pop(number), CODE_FILE).write_text(str(code), encoding="utf-8")


def _fork(folder: str) -> int:
    """Fork a worker for the order in a folder; return the number of its process."""
    number = os.fork()
    if number:
        return number
    if FORKS:
        code = worker.main(folder, forks=True)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # nothing is left to clean up, and unloading modules takes time
    os.execv(sys.executable, [sys.executable, "-m", worker.__name__, folder])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
