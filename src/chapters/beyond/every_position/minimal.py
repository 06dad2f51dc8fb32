"""Training of all 28 D^2 weights with queries of several prefixes of one context (Eq. 1)."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from emergence.models import Mask, Weights
from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.memo import resumable
from emergence.subspace import project
from emergence.training import SAMPLERS, Data, Kind, draw_queries, prefix_output

FLOW_STEP = 0.25  # flow time of a step on orthonormal data, a small part of the fastest time
ALPHA, BETA, GAMMA = 2, 4, 17  # places of alpha_3, beta_2 and gamma_3 among the nineteen


@dataclass(frozen=True)
class AskedWeights:
    """Gradient descent of the disentangled transformer from zero, as in §4 except for the queries.

    The loss is the mean over contexts and dimensions, weighted over the queries of a context."""

    kind: Kind  # what is asked, as in `training.draw_queries`
    n_pairs: int  # pairs N in a context, >= 1; the dimension D is 2N
    batch_size: int  # fresh contexts a step
    steps: int  # number of updates
    data: Data = "gaussian"  # `gaussian` (Eq. 5), at rate 1, or `orthonormal` (Assumption 7)
    mask: Mask = "strict"  # whether a position attends to itself
    skipped: int = 0  # how many of the shortest prefixes have no loss, if each has a query

    @property
    def dim(self) -> int:
        """The dimension D of an item, label or position."""
        return 2 * self.n_pairs

    @property
    def learning_rate(self) -> float:
        """The rate of gradient descent."""
        return FLOW_STEP * self.dim**2 if self.data == "orthonormal" else 1.0


@resumable
def train_asked_weights(
    settings: AskedWeights,
    seed: int,
    *,
    device: torch.device,
    label: str = "training",
    until_both: float | None = None,
) -> Float[np.ndarray, "times 4"]:
    """Train one network; before each step D alpha_3, D beta_2, gamma_3 and the batch's loss.

    On orthonormal data a score is the weight itself, and the first two are alpha_3 and beta_2. With
    `until_both`, training ends once each of these two has been at that level.
    """
    stream, dim = generator(seed, device), settings.dim
    shapes = (2 * dim, 2 * dim), (4 * dim, 4 * dim), (8 * dim, dim)
    weights = Weights(*(torch.zeros(shape, device=device) for shape in shapes))
    scale = float(dim) if settings.data == "gaussian" else 1.0
    rows: list[Tensor] = []
    level = np.inf if until_both is None else until_both

    def both_emerged() -> bool:
        return bool((torch.stack(rows)[:, :2].amax(dim=0) >= level).all())

    for step in loop.steps(
        settings.steps,
        label,
        ended=None if until_both is None else both_emerged,
        weights=tuple(weights),
        stream=stream,
        rows=rows,
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
    found = draw_queries(settings.kind, size, n, generator=stream, skipped=settings.skipped)
    pick = found.wanted[..., None].expand(-1, -1, dim)
    queries = torch.zeros(*found.wanted.shape, 2 * dim, device=context.device)
    queries[..., :dim] = context[:, 0::2, :dim].gather(1, pick)
    target = context[:, 1::2, :dim].gather(1, pick)
    error = prefix_output(weights, context, queries, found.sizes, settings.mask) - target
    # over dimensions the mean in Gaussian units, where a target has squared norm D
    return (error.square().mean(dim=(0, 2)) * found.weights.to(error)).sum()
