"""What this machine can do: its rate of matrix products, its copy bandwidth, its name."""

import platform
from functools import partial

import torch

from bookbuild.results.machine import machine_name

from .operations import CACHED, PRODUCTS
from .timing import measured

FORMATS = {2: torch.bfloat16, 4: torch.float32, 8: torch.float64}


def describe(device: torch.device, budget: float, quick: bool) -> dict[str, object]:
    """Name, threads, versions, rates in operations and bytes a second, seconds of a call."""
    size = 256 if quick else 2048
    return {
        "device": device.type,
        "name": torch.cuda.get_device_name() if device.type == "cuda" else machine_name(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        **{
            name: product_rate(device, size, budget, FORMATS[width])
            for width, name in PRODUCTS.items()
        },
        "copy_rate": copy_rate(device, 2**20 if quick else 2**26, budget),
        "cached_rate": copy_rate(device, CACHED // 8, budget),
        "call": call(device, budget),
    }


def product_rate(device: torch.device, size: int, budget: float, dtype: torch.dtype) -> float:
    """Operations a second of a square product; a multiplication and an addition are two."""
    left, right, out = (torch.randn(size, size, device=device).to(dtype) for _ in range(3))
    return 2 * size**3 / measured(lambda: torch.mm(left, right, out=out), budget).median


def copy_rate(device: torch.device, count: int, budget: float) -> float:
    """Bytes a second, read and written, of a copy of so many numbers."""
    source, copy = torch.zeros(count, device=device), torch.zeros(count, device=device)
    return 2 * 4 * count / measured(lambda: copy.copy_(source), budget).median


def call(device: torch.device, budget: float) -> float:
    """Seconds of an operation on a single number, from Python."""
    one, out = torch.zeros(1, device=device), torch.zeros(1, device=device)
    return measured(partial(torch.add, one, one, out=out), budget).median
