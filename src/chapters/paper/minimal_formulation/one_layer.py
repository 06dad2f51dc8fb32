"""One attention layer cannot solve the minimal task: the bound, and a model to test it.

The model is Eq. 1 without its second layer, [X | softmax(X W X^T) X] W', with one head or more.
Only the query's row reaches the loss, so W has the query's content on its left.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from emergence.models import attention
from emergence.running import loop
from emergence.running.memo import resumable
from emergence.tasks import Batch, gaussian_pairs


class OneLayer(NamedTuple):
    """The weights of one disentangled layer, with one matrix a head in `scores` and `out`."""

    scores: Float[Tensor, "heads dim 2*dim"]  # from the query's content to what scores a row
    skip: Float[Tensor, "dim dim"]  # from the query's content to the output
    out: Float[Tensor, "heads 2*dim dim"]  # from what is retrieved to the output


def output(
    weights: OneLayer, inputs: Float[Tensor, "batch length width"]
) -> Float[Tensor, "batch dim"]:
    """The prediction at the query, under the strict mask: the query does not see itself."""
    query = inputs[:, -1, : weights.skip.shape[0]]
    rows = inputs[:, :-1]
    scores = torch.einsum("bd,hdw,blw->bhl", query, weights.scores, rows)
    everywhere = torch.ones(scores.shape[-2:], dtype=torch.bool, device=inputs.device)
    retrieved = attention(scores, everywhere) @ rows
    return query @ weights.skip + torch.einsum("bhw,hwd->bd", retrieved, weights.out)


def gaussian_bound(n_pairs: int, dim: int, heads: int = 1) -> float:
    """What no such model gets below on Gaussian data: (1 - H/N)(1 - H/D), where zero gives 1."""
    return max(0.0, 1 - heads / n_pairs) * max(0.0, 1 - heads / dim)


def orthonormal_bound(n_pairs: int, dim: int) -> float:
    """The same for one head on orthonormal data: 1 - 1/N - 1/(D - N)."""
    return max(0.0, 1 - 1 / n_pairs - 1 / (dim - n_pairs))


def random_weights(dim: int, heads: int, scale: float, generator: torch.Generator) -> OneLayer:
    """Weights with independent N(0, scale^2) entries, in double precision."""
    shapes = (heads, dim, 2 * dim), (dim, dim), (heads, 2 * dim, dim)
    return OneLayer(
        *(torch.randn(s, generator=generator, dtype=torch.float64) * scale for s in shapes)
    )


@resumable
def train_one_layer(
    n_pairs: int, dim: int, seed: int, *, steps: int, batch_size: int = 128, rate: float = 0.02
) -> float:
    """The loss on fresh Gaussian data of one layer and one head after training, 1 for zero.

    Adam on fresh batches, its rate falling to zero; the start is N(0, 0.1^2). The test is
    40 000 sequences. Raises ArithmeticError if it diverges.
    """
    generator = torch.Generator().manual_seed(seed)
    weights = random_weights(dim, 1, 0.1, generator)
    for weight in weights:
        weight.requires_grad_()
    optimizer = torch.optim.Adam(list(weights), rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    for step in loop.steps(
        steps, f"one layer, N = {n_pairs}, seed {seed}",
        weights=tuple(weights), optimizer=optimizer, schedule=schedule, stream=generator,
    ):  # fmt: skip
        optimizer.zero_grad()
        error = _error(weights, gaussian_pairs(batch_size, n_pairs, dim, generator=generator))
        loop.check_finite(error.detach(), "one layer", step)
        error.backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        tests = (gaussian_pairs(4000, n_pairs, dim, generator=generator) for _ in range(10))
        return float(torch.stack([_error(weights, batch) for batch in tests]).mean())


def _error(weights: OneLayer, batch: Batch) -> Tensor:
    return (output(weights, batch.inputs) - batch.target).square().mean()
