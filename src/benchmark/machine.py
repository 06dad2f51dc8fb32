"""What this machine can do: its rate of matrix products, its copy bandwidth, its name."""

import platform
from pathlib import Path

import torch

from .timing import spread, take_turns


def describe(device: torch.device, budget: float, quick: bool) -> dict[str, object]:
    """Name, threads, versions and the two measured rates, in operations and bytes a second."""
    return {
        "device": device.type,
        "name": torch.cuda.get_device_name() if device.type == "cuda" else _processor(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "product_rate": product_rate(device, 256 if quick else 2048, budget),
        "copy_rate": copy_rate(device, 2**20 if quick else 2**26, budget),
    }


def product_rate(device: torch.device, size: int, budget: float) -> float:
    """Operations a second of a square float32 product; a multiplication and an addition are two."""
    left, right, out = (torch.randn(size, size, device=device) for _ in range(3))
    times = take_turns({"product": lambda: torch.mm(left, right, out=out)}, device, budget)
    return 2 * size**3 / spread(times["product"]).median


def copy_rate(device: torch.device, count: int, budget: float) -> float:
    """Bytes a second, read and written, of a copy far larger than the caches."""
    source, copy = torch.zeros(count, device=device), torch.zeros(count, device=device)
    times = take_turns({"copy": lambda: copy.copy_(source)}, device, budget)
    return 2 * 4 * count / spread(times["copy"]).median


def _processor() -> str:
    """The processor's name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
