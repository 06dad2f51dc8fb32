"""The machine a result was made on, as far as its last bits depend on it."""

import atexit
import json
import os
import platform
import resource
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from bookbuild.reporting.provenance import versions

VECTORS = "avx512f", "avx2"  # sums round differently in each


@cache
def machine_name() -> str:
    """Return the system and the processor, so that machines of one name give the same bits."""
    text = ""
    with suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return f"{platform.system()} {platform.machine()}, {processor_name(text)}"


def processor_name(cpuinfo: str) -> str:
    """Return the first processor's name with its family, model and widest vectors.

    The name alone is not enough: a virtual machine may call several models "AMD EPYC".
    """
    lines = (line.partition(":") for line in cpuinfo.partition("\n\n")[0].splitlines())
    values = {key.strip(): value.strip() for key, _, value in lines}
    parts = [values.get("model name") or platform.processor() or "unknown processor"]
    parts += [
        f"{key} {values[key]}" for key in ("cpu family", "model", "CPU part") if key in values
    ]
    parts += [name for name in VECTORS if name in values.get("flags", "").split()][:1]
    return " ".join(parts)


@cache
def gpu() -> str:
    """Return the model of the first GPU and the version of CUDA; a text that says so if none."""
    import torch

    if not torch.cuda.is_available():
        return "no GPU"
    return f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}"


def tell_usage(file: str, running: str = "") -> None:
    """Have this process write the versions in it, and again when it ends, with what it used.

    `memory` is the most bytes that it or a process of its own had. If it used a GPU, `gpu_memory`
    is the most bytes that PyTorch reserved there. The package `running` of the book says the rest:
    `gpu_seconds` in which the GPU was at work on recorded stretches, and `stepwise` the trainings
    that were not recorded.
    """

    def write() -> None:
        unit = 1 if sys.platform == "darwin" else 1024
        processes = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        peak = max(resource.getrusage(process).ru_maxrss for process in processes)
        used: dict[str, Any] = {"versions": versions(), "memory": peak * unit}
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            used |= {"gpu_memory": torch.cuda.max_memory_reserved()}
            if graphs := sys.modules.get(f"{running}.graphs"):
                used |= {"gpu_seconds": graphs.gpu_seconds()}
                used |= {"stepwise": graphs.stepwise} if graphs.stepwise else {}
        Path(file).write_text(json.dumps(used), encoding="utf-8")

    write()
    atexit.register(write)


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
