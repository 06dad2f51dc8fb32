"""What our processes share: the path to our sources, locks, the end of a child with its parent."""

import fcntl
import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from .errors import BookError

# what users set for Python, notebooks, drawings and arithmetic of their own
PERSONAL = re.compile(
    "PYTHON(?!PATH$|DONTWRITE|PYCACHE)|IPYTHON|JUPYTER|MPL|MATPLOTLIB|ATEN_|BLIS_|CUBLAS_|DNNL_|"
    "GOMP_|KMP_|MKL_|NPY_|NVIDIA_TF32|OMP_|ONEDNN_|OPENBLAS_|TORCH_|VECLIB_"
)


def sources_first(sources: Path) -> dict[str, str]:
    """Return an environment with nothing personal, in which Python finds these sources first."""
    if os.pathsep in str(sources):
        raise BookError(f"No folder may have a {os.pathsep} in its name, as in {sources.parent}.")
    given = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    path = os.pathsep.join([str(sources), *map(os.path.abspath, given)])
    environment = {name: value for name, value in os.environ.items() if not PERSONAL.match(name)}
    return environment | {"PYTHONPATH": path, "PYTHONUTF8": "1"}


def ran(order: Sequence[str], **where: Any) -> subprocess.CompletedProcess[str]:
    """Run a command, with options of `subprocess.run`; it may fail, or not be installed."""
    try:
        return subprocess.run(
            order, capture_output=True, text=True, errors="replace", check=False, **where
        )
    except FileNotFoundError:
        return subprocess.CompletedProcess(order, 127, "", f"{order[0]} is not installed")


def head_of(root: Path) -> tuple[str, str]:
    """Return the commit of a working tree, or nothing and the reason why it is not known."""
    answer = ran(["git", "rev-parse", "--verify", "HEAD"], cwd=root)
    why = answer.stderr.partition("\n")[0].removeprefix("fatal: ")
    return (answer.stdout.strip(), "") if answer.returncode == 0 else ("", why)


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Let only this process do `what` that a lock stands for; raise BookError if another is at it.

    The system releases the lock of a process that is killed, once the children that inherited it,
    as the page builder does, have ended too.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise BookError(
                f"Another {what} is running here (process {lock.read()}): wait until it has ended, "
                "and try again."
            ) from None
        os.set_inheritable(lock.fileno(), True)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def die_with_parent(parent: int | None = None) -> None:
    """End this process and its children once its parent is gone, even by kill -9."""
    threading.Thread(target=_watch, args=(parent or os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    kill(psutil.Process())


def kill(process: psutil.Process) -> None:
    """Kill a process after all that it started."""
    for child in (*process.children(recursive=True), process):
        with suppress(psutil.NoSuchProcess):
            child.kill()
