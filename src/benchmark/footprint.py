"""Peak memory of a step, in a process of its own: python -m benchmark.footprint CASE METHOD DEVICE

CASE is 2 and D, or 4 and N, D, B, separated by commas.
"""

import subprocess
import sys
from pathlib import Path
from typing import cast

import torch

from emergence.training.settings import Method

from .cases import Case, Section2, Section4


def peak(case: Case, method: Method, device: torch.device) -> int | None:
    """Bytes by which the first step raises the peak; None where the system does not tell."""
    sizes = (2, case.dim) if isinstance(case, Section2) else (4, *vars(case).values())
    command = [sys.executable, "-m", "benchmark.footprint", ",".join(map(str, sizes)), method]
    run = subprocess.run([*command, device.type], capture_output=True, text=True)
    return int(run.stdout) if run.returncode == 0 and run.stdout.strip() else None


def growth(case: Case, method: Method, device: torch.device) -> int | None:
    """The same in this process, which must be fresh."""
    step = case.step(method, device)
    if device.type == "cuda":
        allocated = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        step()
        return torch.cuda.max_memory_allocated() - allocated
    before = _resident("VmRSS")
    if before is None:
        return None
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    step()
    highest = _resident("VmHWM")
    return None if highest is None else highest - before


def _resident(field: str) -> int | None:
    """Resident bytes now (VmRSS) or at the highest (VmHWM); None where Linux does not tell."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))


def main(sizes: str, method: Method, device: str) -> None:
    section, *numbers = map(int, sizes.split(","))
    case: Case = Section2(*numbers) if section == 2 else Section4(*numbers)
    measured = growth(case, method, torch.device(device))
    if measured is not None:
        print(measured)


if __name__ == "__main__":
    main(sys.argv[1], cast(Method, sys.argv[2]), sys.argv[3])
