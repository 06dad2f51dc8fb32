"""The machine a result was made on, as far as its last bits depend on it."""

import os
import platform
from functools import cache
from pathlib import Path


@cache
def machine_name() -> str:
    """Return the system and the model of the processor."""
    return f"{platform.system()} {platform.machine()}, {_processor()}"


@cache
def gpu() -> str:
    """Return the model of the first GPU and the version of CUDA; a text that says so if none."""
    import torch

    if not torch.cuda.is_available():
        return "no GPU"
    return f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}"


def gpu_id() -> str | None:
    """Return what the driver calls the first GPU: its UUID, or 0 where PyTorch does not tell it."""
    import torch

    if not torch.cuda.is_available():
        return None
    uuid = getattr(torch.cuda.get_device_properties(0), "uuid", None)
    return f"GPU-{uuid}" if uuid else "0"


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


def _processor() -> str:
    """Return the model of the processor as the system calls it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or "unknown processor")
