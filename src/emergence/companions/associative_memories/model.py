"""Linear and MLP memories of the identity, trained with cross-entropy on all pairs at once.

The linear problem is convex: L-BFGS finds its least loss. The MLP's is not; it is trained by
AdamW, as in the source.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from scipy.optimize import minimize
from torch import Tensor

from .lemma import unit
from .loss import scored

Parameters = list[Tensor]


class Pairs(NamedTuple):
    """Random unit embeddings of inputs and outputs; the first n of them are a smaller problem."""

    e: Float[Tensor, "n d"]
    u: Float[Tensor, "n d"]

    def first(self, n: int) -> "Pairs":
        """The first n pairs."""
        return Pairs(self.e[:n], self.u[:n])


def draw(n: int, dim: int, seed: int, device: torch.device) -> Pairs:
    """Pairs of one seed; the first ones do not depend on n."""
    streams = (torch.Generator().manual_seed(2 * seed + i) for i in (0, 1))
    return Pairs(*(unit(n, dim, s, torch.float32).to(device) for s in streams))


class Memory(NamedTuple):
    """A map from R^d to R^d: its initial parameters, and its values."""

    start: Parameters
    values: Callable[[Parameters, Tensor], Tensor]


def linear(dim: int) -> Memory:
    """x -> W x from W = 0."""
    return Memory([torch.zeros(dim, dim)], lambda p, x: x @ p[0].mT)


def stacked(memory: Memory, seeds: int) -> Memory:
    """The same initial parameters for each of several seeds."""
    start = [part.expand(seeds, *part.shape) for part in memory.start]
    return Memory(start, memory.values)


def mlp(dim: int, width: int, streams: Sequence[torch.Generator]) -> Memory:
    """x -> V relu(A x + b), one for each stream, in Flax's default initialisation as the source."""

    def normal(rows: int, columns: int) -> Tensor:
        parts = [torch.randn(rows, columns, generator=stream) for stream in streams]
        return torch.stack(parts) / columns**0.5

    start = [normal(width, dim), torch.zeros(len(streams), 1, width), normal(dim, width)]
    return Memory(start, lambda p, x: torch.relu(x @ p[0].mT + p[1]) @ p[2].mT)


class Trained(NamedTuple):
    """What training reached: best recall, last loss, evaluations of the gradient, parameters."""

    recall: float
    loss: float
    evaluations: int
    parameters: Parameters


class _Enough(Exception):
    """The recall is reached, or the loss does not fall any more."""


def train(
    memory: Memory, pairs: Pairs, *, recall: float, evaluations: int, patience: int
) -> Trained:
    """Minimise the loss by L-BFGS until so much is recalled, or the loss stalls."""
    device = pairs.e.device
    target = torch.arange(len(pairs.e), device=device)
    shapes = [part.shape for part in memory.start]
    state = _pack(memory.start)
    best, least, since, count, value = 0.0, np.inf, 0, 0, np.inf

    def objective(flat: Float[np.ndarray, " parameters"]) -> tuple[float, np.ndarray]:
        nonlocal best, least, since, count, value, state
        state = flat
        parameters = [part.requires_grad_() for part in _unpack(flat, shapes, device)]
        h = memory.values(parameters, pairs.e)
        now = scored(h[None], pairs.u[None], target[None])
        gradient = torch.autograd.grad(h, parameters, now.gradient[0])
        value, count = float(now.loss), count + 1
        best = max(best, float(now.right.double().mean()))
        since = 0 if value < 0.99 * least else since + 1
        least = min(least, value)
        if best >= recall or since >= patience:
            raise _Enough
        return value, _pack(gradient)

    options = {"maxfun": evaluations, "maxiter": evaluations, "maxcor": 20, "ftol": 0, "gtol": 0}
    with suppress(_Enough):
        minimize(objective, state, jac=True, method="L-BFGS-B", options=options)
    return Trained(best, value, count, _unpack(state, shapes, device))


def _pack(parts: list[Tensor] | tuple[Tensor, ...]) -> Float[np.ndarray, " parameters"]:
    return torch.cat([part.detach().flatten().double().cpu() for part in parts]).numpy()


def _unpack(flat: np.ndarray, shapes: list[torch.Size], device: torch.device) -> Parameters:
    sizes = [shape.numel() for shape in shapes]
    parts = torch.from_numpy(flat).float().to(device).split(sizes)
    return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


def train_adam(
    memory: Memory,
    pairs: Sequence[Pairs],
    *,
    recall: float,
    learning_rate: float,
    steps: int,
    patience: int,
    every: int = 32,
) -> Float[np.ndarray, " seeds"]:
    """The best recall of each seed under AdamW without decay, as in the source, all at once.

    Recall is looked at every few steps. Training ends early when the mean of the best recalls is
    enough, and when no best recall has risen for `patience` steps.
    """
    e, u = (torch.stack(parts) for parts in zip(*pairs, strict=True))
    seeds, n, _ = e.shape
    target = torch.arange(n, device=e.device).expand(seeds, n)
    parameters = [part.to(e.device).clone().requires_grad_() for part in memory.start]
    optimiser = torch.optim.AdamW(parameters, lr=learning_rate, weight_decay=0.0, fused=True)
    best, since = torch.zeros(seeds, dtype=torch.float64), 0
    for step in range(steps):
        h = memory.values(parameters, e)
        now = scored(h, u, target)
        if step % every == 0:
            seen = now.right.double().mean(dim=1).cpu()
            since = since + every if bool((seen <= best).all()) else 0
            best = torch.maximum(best, seen)
            if best.mean() >= recall or since >= patience:
                break
        optimiser.zero_grad()
        h.backward(now.gradient)
        optimiser.step()
    return best.numpy()
