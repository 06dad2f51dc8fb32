"""The machine a result was made on, as far as its last bits depend on it."""

import atexit
import json
import os
import platform
import re
import resource
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from bookbuild.reporting.provenance import versions

PEAK_FILE = Path("/proc/self/status")


@cache
def machine_name() -> str:
    """Return the system and the model of the processor as the system calls it."""
    lines: list[str] = []
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    processor = next(models, platform.processor() or "unknown processor")
    return f"{platform.system()} {platform.machine()}, {processor}"


@cache
def gpu() -> str:
    """Return the model of the first GPU and the version of CUDA; a text that says so if none."""
    import torch

    if not torch.cuda.is_available():
        return "no GPU"
    return f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}"


def tell_usage(file: str) -> None:
    """Have this process write, when it ends, the versions in it and what it used.

    `memory` is the most bytes that it had. If it used a GPU, `gpu_seconds` are those in which the
    GPU was at work on recorded stretches, `gpu_memory` the most bytes that PyTorch reserved there,
    and `stepwise` the trainings that were not recorded.
    """
    atexit.register(_write_usage, file)


def _write_usage(file: str) -> None:
    used: dict[str, Any] = {"versions": versions(), "memory": _peak_memory()}
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        from running import graphs

        used |= {"gpu_seconds": graphs.gpu_seconds()}
        used |= {"gpu_memory": torch.cuda.max_memory_reserved()}
        used |= {"stepwise": graphs.stepwise} if graphs.stepwise else {}
    Path(file).write_text(json.dumps(used), encoding="utf-8")


def _peak_memory() -> int:
    """Return the most bytes of memory that this process had; elsewhere than on Linux, about so."""
    if PEAK_FILE.is_file():  # what follows may be that of the process that started this one
        peak = re.search(r"VmHWM:\s*(\d+) kB", PEAK_FILE.read_text(encoding="utf-8"))
        if peak:
            return 1024 * int(peak[1])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most * (1 if sys.platform == "darwin" else 1024)


def pin(device: str) -> None:
    """Have a GPU give the same bits again; a processor with as many threads does so anyway.

    Sums that atomic additions would put in any order take their deterministic kernels, cuBLAS has
    one workspace, and float32 keeps all of its digits. An operation without such a kernel warns.
    """
    if device != "cuda":
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read when cuBLAS starts
    import torch

    torch.use_deterministic_algorithms(True, warn_only=True)
    # nothing reads fresh memory, and filling it is a kernel for every array
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.set_float32_matmul_precision("highest")  # no TF32
