"""Training of all 28 D^2 weights with queries of several prefixes of one context (Eq. 1)."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from emergence.models import Weights, allowed_positions, apply, attention
from emergence.subspace import project
from emergence.training import SAMPLERS, Data
from running import loop
from running.cache import Task
from running.devices import generator

from .supervision import Kind, asked

ALPHA, BETA, GAMMA = 2, 4, 17  # places of alpha_3, beta_2 and gamma_3 among the nineteen


@dataclass(frozen=True)
class AskedWeights:
    """Gradient descent of the disentangled transformer from zero, as in §4 except for the queries.

    The loss is the mean over contexts and dimensions, weighted over the queries of a context."""

    kind: Kind  # what is asked, as in `supervision.asked`
    n_pairs: int  # pairs N in a context, >= 1
    dim: int  # dimension D of an item, label or position, even; for orthonormal data >= 2N
    batch_size: int  # fresh contexts a step
    steps: int  # number of updates
    learning_rate: float = 1.0  # > 0
    data: Data = "gaussian"  # `gaussian` (Eq. 5) or `orthonormal` (Assumption 7).


def prefix_output(
    weights: Weights,
    context: Float[Tensor, "batch length width"],
    queries: Float[Tensor, "batch asked width"],
    sizes: Int[Tensor, "batch asked"],
) -> Float[Tensor, "batch asked dim"]:
    """The prediction of Eq. 1 for each query, which sees the first 2n rows of the context.

    The context's rows do not see the queries, so all queries share what layer 1 makes of it: one
    pass does what N sequences would.
    """
    rows = torch.arange(context.shape[-2], device=context.device)
    seen = rows < 2 * sizes[..., None]
    strict = allowed_positions(context.shape[-2], "strict", context.device)
    pattern = attention(apply(context, weights.w1) @ context.mT, strict)
    attended = _attention(apply(queries, weights.w1) @ context.mT, seen) @ context
    stream = torch.cat([context, pattern @ context], dim=-1)
    query = torch.cat([queries, attended], dim=-1)
    retrieved = _attention(apply(query, weights.w2) @ stream.mT, seen) @ stream
    return apply(torch.cat([query, retrieved], dim=-1), weights.w3)


def _attention(
    scores: Float[Tensor, "batch asked length"], seen: Bool[Tensor, "batch asked length"]
) -> Float[Tensor, "batch asked length"]:
    """The softmax over the rows that a query sees, at least two."""
    return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)


def train_asked_weights(
    settings: AskedWeights, seed: int, *, device: torch.device, label: str = "training"
) -> Float[np.ndarray, "times 4"]:
    """Train one network; before each step D alpha_3, D beta_2, gamma_3 and the batch's loss.

    On orthonormal data a score is the weight itself, and the first two are alpha_3 and beta_2.
    """
    stream, dim = generator(seed, device), settings.dim
    shapes = (2 * dim, 2 * dim), (4 * dim, 4 * dim), (8 * dim, dim)
    weights = Weights(*(torch.zeros(shape, device=device) for shape in shapes))
    scale = float(dim) if settings.data == "gaussian" else 1.0
    rows: list[Tensor] = []
    task = Task.of(train_asked_weights, settings=settings, seed=seed)
    for step in loop.steps(
        task, settings.steps, label, weights=tuple(weights), stream=stream, rows=rows
    ):
        free = Weights(*(part.requires_grad_() for part in weights))
        loss = _batch_loss(settings, free, stream)
        gradient = torch.autograd.grad(loss, tuple(free))
        loop.check_finite(loss.detach(), label, step)
        with torch.no_grad():
            head = project(weights)[0].stacked()[[ALPHA, BETA, GAMMA]]
            units = head.new_tensor([scale, scale, 1.0])
            rows.append(torch.cat([head * units, loss.detach()[None]]))
            for part, slope in zip(weights, gradient, strict=True):
                part -= settings.learning_rate * slope
    return torch.stack([row.cpu() for row in rows]).double().numpy()


def _batch_loss(
    settings: AskedWeights, weights: Weights, stream: torch.Generator
) -> Float[Tensor, ""]:
    n, dim, size = settings.n_pairs, settings.dim, settings.batch_size
    batch = SAMPLERS[settings.data](
        size, n, dim, generator=stream, query="last", dtype=torch.float32
    )
    context = batch.inputs[:, :-1]
    found = asked(settings.kind, size, n, generator=stream)
    pick = found.wanted[..., None].expand(-1, -1, dim)
    queries = torch.zeros(*found.wanted.shape, 2 * dim, device=context.device)
    queries[..., :dim] = context[:, 0::2, :dim].gather(1, pick)
    target = context[:, 1::2, :dim].gather(1, pick)
    error = prefix_output(weights, context, queries, found.sizes) - target
    # over dimensions the mean in Gaussian units, where a target has squared norm D
    return (error.square().mean(dim=(0, 2)) * found.weights.to(error)).sum()
