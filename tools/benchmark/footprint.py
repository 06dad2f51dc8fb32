"""Peak memory of a step, in a process of its own."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from emergence.training import Method

from .cases import Case


def peak(case: Case, method: Method) -> int | None:
    """Bytes by which the first step raises the peak; None where the system does not tell.

    A process that is killed, for want of memory say, raises BrokenProcessPool here.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        return fresh.submit(growth, case, method).result()


def growth(case: Case, method: Method) -> int | None:
    """The same in this process, which must be fresh."""
    step = case.step(method)
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
