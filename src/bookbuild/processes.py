"""What our processes share: the path to our sources, and the end of a child with its parent."""

import os
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil


def sources_first(sources: Path) -> dict[str, str]:
    """Return an environment in which Python finds packages in these sources before all others."""
    path = [str(sources), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, path))}


def ran(order: Sequence[str], **where: Any) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and keep all that it says; it may fail.

    `where` has its folder, its environment and the seconds it may take, as `subprocess.run` does.
    """
    return subprocess.run(
        order, capture_output=True, text=True, errors="replace", check=False, **where
    )


def die_with_parent(parent: int | None = None) -> None:
    """End this process and its children once its parent is gone, even by kill -9."""
    threading.Thread(target=_watch, args=(parent or os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    for child in psutil.Process().children(recursive=True):
        child.kill()
    os._exit(1)
