"""The machine a result was made on, as far as its last bits depend on it."""

import platform
from functools import cache
from pathlib import Path


@cache
def machine() -> str:
    """Return the system and the model of the processor."""
    return f"{platform.system()} {platform.machine()}, {_processor()}"


def _processor() -> str:
    """Return the model of the processor as the system calls it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or "unknown processor")
