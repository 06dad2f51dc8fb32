"""Linear and MLP networks that store random pairs of embeddings, their loss, and their training.

All pairs are trained at once with cross-entropy, whose gradient is written out, several times
faster than autograd. The logits are the largest arrays of both companions that use this. Here they
are made in blocks small enough for a processor's cache, and overwritten in place.

The linear problem is convex: L-BFGS finds its least loss. The MLP's is not; it is trained by
AdamW, as in the source.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from scipy.optimize import minimize
from torch import Tensor

from running import loop
from running.cache import Task
from running.devices import generator
from running.graphs import recordable

from .lemma import unit

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
    streams = (generator(2 * seed + i, torch.device("cpu")) for i in (0, 1))
    return Pairs(*(unit(n, dim, s, torch.float32).to(device) for s in streams))


class Network(NamedTuple):
    """A map from R^d to R^d: its initial parameters, and its values."""

    start: Parameters
    values: Callable[[Parameters, Tensor], Tensor]


def linear(dim: int) -> Network:
    """x -> W x from W = 0."""
    return Network([torch.zeros(dim, dim)], lambda p, x: x @ p[0].mT)


def mlp(dim: int, width: int, streams: Sequence[torch.Generator]) -> Network:
    """x -> V relu(A x + b), one for each stream, in Flax's default initialisation as the source."""

    def normal(rows: int, columns: int) -> Tensor:
        parts = [torch.randn(rows, columns, generator=stream) for stream in streams]
        return torch.stack(parts) / columns**0.5

    start = [normal(width, dim), torch.zeros(len(streams), 1, width), normal(dim, width)]
    return Network(start, lambda p, x: torch.relu(x @ p[0].mT + p[1]) @ p[2].mT)


BLOCK = 2**19  # logits held at once
FLOOR = -60.0  # exp of less would end in denormal numbers, which are slow, and is nothing


class Scored(NamedTuple):
    """Mean loss of each run, its gradient by h, and which rows have their target on top."""

    loss: Float[Tensor, " runs"]
    gradient: Float[Tensor, "runs n d"]
    right: Bool[Tensor, "runs n"]


@torch.no_grad()
def scored(
    h: Float[Tensor, "runs n d"], u: Float[Tensor, "runs k d"], target: Int[Tensor, "runs n"]
) -> Scored:
    """Softmax cross-entropy of the logits h u'. A tie with the target counts against it."""
    runs, n, _ = h.shape
    losses, gradients, rights = [], [], []
    for rows in range(0, n, size := max(1, BLOCK // (runs * u.shape[1]))):
        answer = target[:, rows : rows + size, None]
        logits = h[:, rows : rows + size] @ u.mT
        wanted = logits.gather(2, answer)
        others = logits.scatter_(2, answer, -torch.inf).amax(2, keepdim=True)
        top = torch.maximum(wanted, others)
        weights = logits.sub_(top).clamp_(min=FLOOR).exp_()  # nothing at the target
        rest = weights.sum(2, keepdim=True)
        at_target = (wanted - top).exp()
        total = rest + at_target
        losses.append((total.log() + top - wanted).sum((1, 2)))
        rights.append((wanted > others)[..., 0])
        weights.scatter_(2, answer, -rest).div_(
            total * n
        )  # -rest/total is p - 1 without cancelling
        gradients.append(weights @ u)
    return Scored(sum(losses, h.new_zeros(())) / n, torch.cat(gradients, 1), torch.cat(rights, 1))


class Trained(NamedTuple):
    """What training reached: best recall, last loss, evaluations of the gradient, parameters."""

    recall: float
    loss: float
    evaluations: int
    parameters: Parameters


class _Enough(Exception):
    """The recall is reached, or the loss does not fall any more."""


def train(
    network: Network, pairs: Pairs, *, least_recall: float, evaluations: int, patience: int
) -> Trained:
    """Minimise the loss by scipy's L-BFGS until so much is recalled, or the loss stalls.

    Its state cannot be taken out between two evaluations, so a run that is interrupted begins
    anew. Raises ArithmeticError when it diverges.
    """
    device = pairs.e.device
    target = torch.arange(len(pairs.e), device=device)
    shapes = [part.shape for part in network.start]
    state = _pack(network.start)
    best, least, since, count, value = 0.0, np.inf, 0, 0, np.inf

    def objective(flat: Float[np.ndarray, " parameters"]) -> tuple[float, np.ndarray]:
        nonlocal best, least, since, count, value, state
        state = flat
        parameters = [part.requires_grad_() for part in _unpack(flat, shapes, device)]
        h = network.values(parameters, pairs.e)
        now = scored(h[None], pairs.u[None], target[None])
        gradient = torch.autograd.grad(h, parameters, now.gradient[0])
        loop.check_finite(now.loss, "L-BFGS", count)
        value, count = float(now.loss), count + 1
        best = max(best, float(now.right.double().mean()))
        since = 0 if value < 0.99 * least else since + 1
        least = min(least, value)
        if best >= least_recall or since >= patience:
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


@dataclass(frozen=True)
class AdamTraining:
    """AdamW without decay, as in the source, on the first `n_pairs` of the pairs drawn.

    The network is an MLP with `width` hidden units. Recall is looked at every few steps. Training
    ends early when the mean of the best recalls is `least_recall`, and when no best recall has
    risen for `patience` steps.
    """

    dim: int  # d
    width: int  # m
    n_pairs: int  # N
    n_drawn: int  # the last entries of a draw depend on its size
    learning_rate: float
    steps: int
    patience: int
    least_recall: float
    every: int = 32


def train_adam(
    settings: AdamTraining, seeds: Sequence[int], *, device: torch.device
) -> Float[np.ndarray, " seeds"]:
    """The best recall of each seed, all trained at once; ArithmeticError when one diverges."""
    drawn = (draw(settings.n_drawn, settings.dim, seed, device) for seed in seeds)
    pairs = (everything.first(settings.n_pairs) for everything in drawn)
    e, u = map(torch.stack, zip(*pairs, strict=True))
    target = torch.arange(e.shape[1], device=device).expand(e.shape[:2])
    streams = [generator(seed, torch.device("cpu")) for seed in seeds]
    network = mlp(settings.dim, settings.width, streams)
    parameters = [part.to(device).clone().requires_grad_() for part in network.start]
    adamw = torch.optim.AdamW(parameters, lr=settings.learning_rate, weight_decay=0.0, fused=True)
    optimiser = recordable(adamw)
    best = torch.zeros(len(seeds), dtype=torch.float64, device=device)
    stalled = torch.zeros((), dtype=torch.int64, device=device)  # steps without a rise
    over = torch.zeros((), dtype=torch.bool, device=device)

    def step(looked_at: bool) -> tuple[Tensor, None]:
        h = network.values(parameters, e)
        now = scored(h, u, target)
        optimiser.zero_grad()
        h.backward(now.gradient)
        optimiser.step()
        if looked_at:
            seen = now.right.double().mean(dim=1)
            stalled.copy_(torch.where((seen <= best).all(), stalled + settings.every, 0))
            torch.maximum(best, seen, out=best)
            enough = best.mean() >= settings.least_recall
            over.logical_or_(enough | (stalled >= settings.patience))
        return now.loss, None

    loop.descend(
        Task.of(train_adam, settings=settings, seeds=seeds),
        settings.steps,
        f"{settings.n_pairs} pairs, MLP, AdamW",
        step,
        rows=[],
        every=settings.every,
        ended=lambda: over,
        parameters=tuple(parameters),
        optimiser=optimiser,
        best=best,
        stalled=stalled,
        over=over,
    )
    return best.cpu().numpy()
