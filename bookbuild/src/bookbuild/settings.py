"""The options of a build, checked, and the folders that follow from them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .errors import BookError

PROFILES = ("paper", "smoke")
DEVICES = ("auto", "cpu", "cuda")
CELL_TIMEOUT = 7200  # seconds; the longest cell of the book takes minutes on two cores
CHECKPOINT_INTERVAL = 30.0  # seconds of work that a kill may cost a long run
GPU_MEMORY_EACH = 4 * 2**30  # bytes; §2 is the largest
SHORT = 0.1  # seconds; what has ended sooner is not worth a file


def core_count() -> int:
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_jobs(device: str) -> int:
    """Return how many chapters run at once by default.

    On a processor memory, not cores, sets the limit of 4. On a GPU a chapter uses two cores, and
    the memory of the GPU sets a limit as well.
    """
    if device != "cuda":
        return min(core_count(), 4)
    import torch

    room = torch.cuda.get_device_properties(0).total_memory // GPU_MEMORY_EACH
    return max(1, min(6, core_count() // 2, room))


@dataclass(frozen=True)
class BuildSettings:
    """What a build makes and how; the device is already resolved."""

    root: Path
    profile: str = "paper"
    device: str = "cpu"
    seed: int = 0
    jobs: int = 1
    timeout: int = CELL_TIMEOUT
    interval: float = CHECKPOINT_INTERVAL
    short: float = SHORT
    frozen: Path | None = None  # where the sources are copied to while chapters run
    published: Path | None = None  # archive of a published run, whose results are used
    withheld: str = ""  # the fingerprint of the one of them that is not used, but computed
    store: str = "results"  # the folder of results; what rests on an archive has its own
    folder: str = "_build"  # of everything that is built
    changes: Mapping[str, Any] = field(default_factory=dict)  # of what a chapter sets, by name

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters handed to every chapter."""
        changed = {"settings": dict(self.changes)} if self.changes else {}
        return {"profile": self.profile, "device": self.device, "seed": self.seed, **changed}

    @property
    def judged(self) -> bool:
        """Whether the numbers are those that claims and checks are about."""
        return self.profile == "paper" and not self.changes

    @property
    def threads_each(self) -> int:
        """How many threads a chapter may use; its last bits depend on it."""
        return max(1, core_count() // self.jobs)

    @property
    def build(self) -> Path:
        """The folder of everything that is built."""
        return self.root / self.folder

    @property
    def results(self) -> Path:
        """The folder of results, shared by the profiles."""
        return self.build / self.store

    @property
    def running(self) -> Path:
        """The folder of chapters that are being executed."""
        return self.build / "running"

    @property
    def failed(self) -> Path:
        """The folder of partial notebooks and logs of chapters that failed."""
        return self.build / self.profile / "failed"

    @property
    def stage(self) -> Path:
        """The folder from which the site is built."""
        return self.build / self.profile / "stage"

    @property
    def site(self) -> Path:
        """The folder of the finished site."""
        return self.build / self.profile / "site"


def resolve_device(name: str) -> str:
    """Return "cpu" or "cuda"; raise BookError where CUDA is asked for and not there."""
    if name == "cpu":
        return name
    has_cuda = False
    if find_spec("torch") and "+cpu" not in version("torch"):  # importing PyTorch takes seconds
        import torch

        has_cuda = torch.cuda.is_available()
    if name == "cuda" and not has_cuda:
        raise BookError(
            "DEVICE is 'cuda', but there is no PyTorch that finds a CUDA device: use DEVICE=cpu."
        )
    return "cuda" if has_cuda else "cpu"
