"""Stretches of device work that are recorded once and replayed: CUDA graphs."""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import torch
from torch import Tensor

logger = logging.getLogger(__name__)
stepwise: list[str] = []  # what this process could not record
Work = Callable[[], Any]
_spans: list[tuple[Any, Any]] = []  # events at both ends of each stretch
_side: Any = None


class CudaGraph:
    """Work on one GPU as a CUDA graph; RuntimeError where CUDA refuses to capture it.

    `results` are arrays that each replay fills anew.
    """

    def __init__(self, work: Work, streams: Sequence[torch.Generator]) -> None:
        # done before on the same side stream, for cuBLAS has a workspace for each
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
        """Where work is warmed up, recorded and replayed."""
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
        """What is counted by `gpu_seconds`."""
        span = tuple(torch.cuda.Event(enable_timing=True) for _ in range(2))
        span[0].record()
        yield
        span[1].record()
        _spans.append((span[0], span[1]))


Recorder = Any  # `CudaGraph`, or what stands for it where there is no GPU


def recorder(device: torch.device) -> Recorder | None:
    """What records work on a device; None on a processor, and where GRAPHS=0 asks for none."""
    wanted = device.type == "cuda" and os.environ.get("GRAPHS") != "0"
    return CudaGraph if wanted else None


def gpu_seconds() -> float:
    """The seconds in which the GPU was at work on stretches of this process; 0 without a GPU."""
    if _spans:
        torch.cuda.synchronize()
    return sum(start.elapsed_time(end) for start, end in _spans) / 1000


class Repeated:
    """Work that is done when it is first called, recorded the second time, and then replayed."""

    def __init__(
        self, record: Recorder | None, work: Work, streams: Sequence[torch.Generator], label: str
    ) -> None:
        self.record, self.work, self.streams, self.label = record, work, streams, label
        self.warm = False
        self.recorded: Any = None  # what `record` has made of the work

    def __call__(self) -> Any:
        if self.record and self.warm and not self.recorded:
            self._record(self.record)
        self.warm = True
        with self.record.timed() if self.record else nullcontext():
            if self.recorded is None:
                return self.work()
            self.recorded.replay()
            return self.recorded.results  # valid until the next call

    def _record(self, record: Recorder) -> None:
        """Record the work; where that fails, say so and mend the streams that it had taken."""
        before = [stream.get_state() for stream in self.streams]
        try:
            self.recorded = record(self.work, self.streams)
        except RuntimeError as error:
            reason = str(error.__context__ or error).partition("\n")[0]
            logger.warning(
                "%s walks step by step on this GPU: its step could not be recorded (%s). "
                "The numbers are the same, the time is not.", self.label, reason,
            )  # fmt: skip
            stepwise.append(self.label)
            for stream, state in zip(self.streams, before, strict=True):
                stream.graphsafe_set_state(torch.Generator(stream.device).graphsafe_get_state())
                stream.set_state(state)
            self.record = None


@contextmanager
def recorded_work(work: Work, streams: Sequence[torch.Generator], label: str) -> Iterator[Repeated]:
    """Work of a step on the device of its streams, where `loop.descend` does not serve."""
    record = recorder(streams[0].device)
    with record.aside() if record else nullcontext():
        yield Repeated(record, work, streams, label)


class Schedule:
    """Numbers that change with the step, on a device: those of Python would be baked in."""

    def __init__(
        self, rows: Sequence[Sequence[float]], device: torch.device, dtype: torch.dtype
    ) -> None:
        self.rows = torch.tensor(rows, device=device, dtype=dtype)
        self.place = torch.zeros(1, device=device, dtype=torch.long)  # a part of the descent

    def __call__(self) -> Tensor:
        """The numbers of this step; the next call has those of the next."""
        row = self.rows.index_select(0, self.place)[0]
        self.place.add_(1)
        return row


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
