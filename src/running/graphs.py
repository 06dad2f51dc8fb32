"""Stretches of device work that are recorded once and replayed: CUDA graphs."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

Work = Callable[..., Any]
_spans: list[tuple[Any, Any]] = []  # events at both ends of each stretch
_side: Any = None


@runtime_checkable
class Recorded(Protocol):
    """Work that was recorded."""

    results: Any  # what it returned: arrays that each replay fills anew

    def replay(self) -> None:
        """Do the work again, on the same arrays."""


@runtime_checkable
class Recorder(Protocol):
    """How work is recorded on a device."""

    def __call__(self, work: Work, streams: Sequence[torch.Generator]) -> Recorded: ...

    def aside(self) -> AbstractContextManager[None]:
        """Where work is warmed up, recorded and replayed."""

    def timed(self) -> AbstractContextManager[None]:
        """What is counted by `gpu_seconds`."""


class CudaGraph:
    """Work on one GPU as a CUDA graph; RuntimeError where CUDA refuses to capture it.

    It must have been done before on the same side stream: cuBLAS has a workspace for each.
    """

    def __init__(self, work: Work, streams: Sequence[torch.Generator]) -> None:
        self.graph = torch.cuda.CUDAGraph()
        register = getattr(self.graph, "register_generator_state", None)  # needless in new versions
        if register is not None:
            for stream in streams:
                register(stream)
        with torch.cuda.graph(self.graph, stream=_side):
            self.results = work()

    def replay(self) -> None:
        self.graph.replay()

    @staticmethod
    @contextmanager
    def aside() -> Iterator[None]:
        global _side
        _side = _side or torch.cuda.Stream()
        outer = torch.cuda.current_stream()
        _side.wait_stream(outer)
        try:
            with torch.cuda.stream(_side):
                yield
        finally:
            torch.cuda.set_stream(outer)  # a capture that failed has left another one
            outer.wait_stream(_side)

    @staticmethod
    @contextmanager
    def timed() -> Iterator[None]:
        span = tuple(torch.cuda.Event(enable_timing=True) for _ in range(2))
        span[0].record()
        yield
        span[1].record()
        _spans.append((span[0], span[1]))


def recorder(device: torch.device) -> Recorder | None:
    """What records work on a device; None on a processor, and where GRAPHS=0 asks for none."""
    wanted = device.type == "cuda" and os.environ.get("GRAPHS") != "0"
    return CudaGraph if wanted else None


def gpu_seconds() -> float:
    """The seconds in which the GPU was at work on stretches of this process; 0 without a GPU."""
    if _spans:
        torch.cuda.synchronize()
    return sum(start.elapsed_time(end) for start, end in _spans) / 1000


@cache
def constant(
    values: float | tuple[int | float, ...], device: torch.device, dtype: torch.dtype = torch.long
) -> Tensor:
    """Numbers on a device, not to be changed: brought there once, for that cannot be recorded."""
    return torch.tensor(values, device=device, dtype=dtype)


def recordable(optimiser: torch.optim.Optimizer) -> torch.optim.Optimizer:
    """The same Adam or AdamW; on a GPU its steps can be recorded now."""
    for group in optimiser.param_groups:
        group["capturable"] = group["params"][0].is_cuda
    optimiser._warned_capturable_if_run_uncaptured = True  # its first steps are no mistake
    return optimiser
