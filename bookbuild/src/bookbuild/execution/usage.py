"""What an execution used: the memory of its kernel, and what that used of a GPU."""

import json
import resource
import sys
from pathlib import Path
from typing import Any


def used(told: Path) -> dict[str, Any]:
    """Return what a kernel that has ended used.

    `memory` is the most bytes that a child of this process held in main memory. The rest is what
    the kernel told in a file as `results.machine.tell_usage` has it write, if it used a GPU.
    """
    unit = 1 if sys.platform == "darwin" else 1024
    memory = unit * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {"memory": memory} | (json.loads(told.read_text("utf-8")) if told.is_file() else {})
