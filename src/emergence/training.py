"""Training both networks: full or constrained weights, several seeds at once, records.

A run that is interrupted goes on, to the same bits, where whoever runs it keeps its states.
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from . import fast, memory, subspace
from .minimal import (
    OUTPUTS,
    Constrained,
    Full,
    Method,
    MinimalRecord,
    MinimalTraining,
    closed_form,
    stacked_batches,
)
from .models import Weights
from .tokens import Optimiser, TokenRecord, TokenRun, TokenTraining, query_logits

__all__ = [
    "MinimalRecord",
    "MinimalTraining",
    "Optimiser",
    "TokenRecord",
    "TokenTraining",
    "generator",
    "gradient_samples",
    "query_logits",
    "resolve_device",
    "train_minimal",
    "train_tokens",
]


def resolve_device(name: str) -> torch.device:
    """The device called `auto` (CUDA where there is one), `cpu` or `cuda`; ValueError otherwise."""
    if name not in ("auto", "cpu", "cuda"):
        raise ValueError(f"device must be auto, cpu or cuda, got {name!r}")
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("device cuda was asked for, but this machine has no CUDA device")
    has_cuda = torch.cuda.is_available()
    return torch.device("cuda" if name != "cpu" and has_cuda else "cpu")


def generator(seed: int, device: torch.device) -> torch.Generator:
    """A fresh random generator: the same seed and device give the same stream."""
    return torch.Generator(device).manual_seed(seed)


def train_minimal(
    settings: MinimalTraining,
    seeds: Sequence[int],
    *,
    device: torch.device,
    method: Method = "fast",
    dtype: torch.dtype = torch.float32,
    label: str = "training",
) -> MinimalRecord:
    """Train one network per seed, all at once; each sees the data of its own seed only.

    `closed` needs no data and no network: where inputs are orthonormal and only the induction
    head is trained, every batch gives the gradient of App. B.4 exactly.
    Raises ArithmeticError when a run diverges, ValueError where `closed` does not apply.
    """
    if not seeds:
        raise ValueError("training needs at least one seed")
    if method == "closed":
        return closed_form(settings, len(seeds))
    _check(method)
    run = MinimalRun(settings, seeds, device, method, dtype, label)
    task = _task(train_minimal, settings, seeds, device, method, dtype=str(dtype))
    memory.go_through(run, task, total=settings.steps, label=label)
    return run.record()


class MinimalRun:
    """A training under way: the parameters of all seeds, the streams of their data, the records."""

    def __init__(
        self,
        settings: MinimalTraining,
        seeds: Sequence[int],
        device: torch.device,
        method: Method,
        dtype: torch.dtype,
        label: str,
    ) -> None:
        self.settings, self.dtype, self.label = settings, dtype, label
        self.step, self.ended = 0, False
        self.streams = [generator(seed, device) for seed in seeds]
        self.network = (Constrained if settings.trained else Full)(settings, method)
        self.parameters = self.network.start(self.streams, dtype)
        self.least = torch.full((len(seeds),), torch.inf, device=device)
        self.recorded: list[int] = []
        self.rows: list[tuple[Tensor, ...]] = []  # coordinates, norm outside, loss
        self.kept: dict[int, Weights] = {}

    def advance(self) -> None:
        """Measure a fresh batch and descend; ArithmeticError when the loss is not finite."""
        settings = self.settings
        self._keep()
        parameters = [parameter.detach().requires_grad_() for parameter in self.parameters]
        inputs, target = stacked_batches(settings, self.streams, self.dtype)
        error = self.network.output(parameters, inputs) - target
        loss = error.square().mean(dim=(-2, -1))
        gradient = torch.autograd.grad(loss.sum(), parameters)
        if not torch.isfinite(loss).all():
            raise ArithmeticError(f"{self.label}: the loss is not finite at step {self.step}")
        with torch.no_grad():
            if self.step % settings.record_every == 0:
                self.recorded.append(self.step)
                self.rows.append((*self.network.coordinates(parameters), loss.detach()))
            self.parameters = self.network.descend(parameters, gradient)
            self.least = torch.minimum(self.least, loss)
        self.step += 1
        if settings.until_loss is not None and bool(self.least.max() <= settings.until_loss):
            self.ended = True
        elif self.step == settings.steps:
            self._keep()
            self.ended = True

    def _keep(self) -> None:
        if self.step in self.settings.snapshots:
            weights = self.network.weights(self.parameters)
            self.kept[self.step] = Weights(*(part.detach().cpu() for part in weights))

    def record(self) -> MinimalRecord:
        """What the run has left behind."""
        pseudo, outside, losses = (
            torch.stack(column, dim=1).cpu() for column in zip(*self.rows, strict=True)
        )
        return MinimalRecord(torch.tensor(self.recorded), pseudo, outside, losses, self.kept)

    def state(self) -> dict[str, Any]:
        """Parameters, streams, and what was measured."""
        return {
            "step": self.step,
            "ended": self.ended,
            "parameters": self.parameters,
            "streams": [stream.get_state() for stream in self.streams],
            "least": self.least,
            "recorded": self.recorded,
            "columns": [torch.stack(column) for column in zip(*self.rows, strict=True)],
            "kept": {str(step): list(weights) for step, weights in self.kept.items()},
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        device = self.least.device
        self.step, self.ended, self.recorded = state["step"], state["ended"], state["recorded"]
        self.parameters = [torch.tensor(part, device=device) for part in state["parameters"]]
        self.least = torch.tensor(state["least"], device=device)
        for stream, past in zip(self.streams, state["streams"], strict=True):
            stream.set_state(torch.tensor(past))
        columns = (torch.tensor(column, device=device).unbind() for column in state["columns"])
        self.rows = list(zip(*columns, strict=True))
        self.kept = {
            int(step): Weights(*(torch.tensor(part) for part in weights))
            for step, weights in state["kept"].items()
        }


def _task(function: Any, settings: Any, seeds: Any, device: torch.device, method: str, **more: str):
    """The identity of a training; how many threads add up the products decides its last bits."""
    return memory.Task.of(
        function,
        {
            "settings": settings,
            "seeds": seeds,
            "device": str(device),
            "method": method,
            "threads": torch.get_num_threads(),
            **more,
        },
    )


def gradient_samples(
    settings: MinimalTraining,
    weights: Weights,
    count: int,
    *,
    stream: torch.Generator,
) -> Float[Tensor, "count 19"]:
    """Coordinates of the gradient (Theorem 1) of `count` fresh batches at one run's weights."""
    free = [part.to(stream.device).requires_grad_() for part in weights]
    rows = []
    for _ in range(count):
        inputs, target = stacked_batches(settings, [stream], free[0].dtype)
        output = fast.disentangled_output(
            Weights(*free), inputs[0], mask=settings.mask, windows=settings.windows
        )
        loss = (output - target[0]).square().mean()
        gradient = Weights(*torch.autograd.grad(loss, free))
        rows.append(subspace.project(gradient)[0].stacked())
    return torch.stack(rows).cpu()


def _check(method: str) -> None:
    if method not in OUTPUTS:
        raise ValueError(f"method must be one of {tuple(OUTPUTS)}, got {method!r}")


def train_tokens(
    settings: TokenTraining,
    seed: int,
    *,
    device: torch.device,
    method: Method = "fast",
    label: str = "training",
) -> TokenRecord:
    """Train the transformer of §2 on the negative log-likelihood of the query's label.

    Raises ArithmeticError when the run diverges.
    """
    _check(method)
    run = TokenRun(settings, generator(seed, device), method, label)
    task = _task(train_tokens, settings, seed, device, method)
    memory.go_through(run, task, total=settings.steps, label=label)
    return run.record()
