"""The minimal formulation of §3: its solutions, one layer trained on it, and finite streams.

One attention layer cannot solve the minimal task: the bound, and a model to test it.

The model is Eq. 1 without its second layer, [X | softmax(X W X^T) X] W', with one head or more.
Only the query's row reaches the loss, so W has the query's content on its left.

The minimal model in a residual stream of finite width, where writings overlap (§3.1).

A stream of width d adds up what the disentangled stream keeps side by side. Each of its 8D
coordinates is written in its own direction, a row of R, and read along that direction. So the
output depends only on the overlaps of directions, the Gram matrix R R^T. With R R^T = I the two
streams are the same.

Which weights solve the minimal task, for both masks and any query (Assumption 8, App. B.2).

Inputs are orthonormal. Four weights may have any value: alpha_3; beta_2, by which the query
attends to what a row holds; gamma_3; and beta_1, by which it attends to what a row is. The others
are zero.
The loss is then a sum over rows, in closed form. Everywhere `n_pairs` is N >= 1, `asked` counts the
pair asked for from 1 to N, and `mask` is `strict` or `causal`.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from emergence.models import Mask, Weights, allowed_positions, attention
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


def residual_output(
    weights: Weights,
    inputs: Float[Tensor, "batch length width"],
    gram: Float[Tensor, "directions directions"],
    *,
    mask: Mask = "strict",
) -> Float[Tensor, "batch dim"]:
    """The prediction at the query of Eq. 1 in an additive stream whose directions overlap so.

    The stream starts as X R_1. Layer 1 reads X' by R_1 and adds T X' R_2; layer 2 reads U' by R_1
    and R_2 and adds Q U' R_3; the output is read by all. Its matrices in the stream's own basis
    are R_1^T W1 R_1, R_1^T R_2 and so on.
    The overlaps `gram` are those of the directions of X (2D), of what layer 1 retrieves (2D) and of
    what layer 2 retrieves (4D).
    """
    width = inputs.shape[-1]
    allowed = allowed_positions(inputs.shape[-2], mask, inputs.device)
    first, second, third = gram[:width], gram[width : 2 * width], gram[2 * width :]
    x = inputs @ first[:, :width]
    written = inputs @ first + attention(x @ weights.w1 @ x.mT, allowed) @ x @ second
    u = written[..., : 2 * width]
    written = written + attention(u @ weights.w2 @ u.mT, allowed) @ u @ third
    return (written @ weights.w3)[..., -1, :]


def random_gram(
    width: int, residual_dim: int, generator: torch.Generator
) -> Float[Tensor, "width width"]:
    """R R^T for R with independent N(0, 1/d) entries, drawn without R by Bartlett's decomposition.

    The generator is on the CPU. Raises ValueError for a width d below the number of directions.
    """
    if residual_dim < width:
        raise ValueError(f"{width} directions need a stream of at least that, got {residual_dim}")
    root = torch.randn(width, width, generator=generator, dtype=torch.float64).tril(-1)
    dice = np.random.default_rng(int(torch.randint(2**62, (), generator=generator)))
    square = torch.from_numpy(dice.chisquare(residual_dim - np.arange(width)))
    root = root + square.sqrt().diag()
    return root @ root.mT / residual_dim


def difference(one: Float[Tensor, "..."], other: Float[Tensor, "..."]) -> float:
    """The root mean square of the difference over that of the other."""
    return math.sqrt(float((one - other).square().mean() / other.square().mean()))


class Contents(NamedTuple):
    """What the query retrieves in layer 2, as shares of attention that sum to 1."""

    target: float  # the label asked for
    own: float  # the query's own content: its item, and under the causal mask itself
    others: Float[np.ndarray, " others"]  # the other items and labels

    @property
    def squares(self) -> float:
        """The squared norm of what is retrieved."""
        return self.target**2 + self.own**2 + float(np.square(self.others).sum())


def item_shares(alpha: float, n_pairs: int, asked: int, mask: Mask) -> Float[np.ndarray, " rows"]:
    """How much of the item asked for each row holds after layer 1: 2N rows and the query's."""
    itself = 1 if mask == "causal" else 0
    pair = np.arange(1, n_pairs + 1)
    seen = 2 * pair - 2 + itself  # rows that the item of a pair sees; its label sees one more
    labels = np.where(pair == asked, np.exp(alpha), 1.0) / (seen + np.exp(alpha))
    items = np.where(seen > 0, 1 / np.maximum(seen, 1), 0.0)
    items = np.where((pair > asked) | ((pair == asked) & (itself > 0)), items, 0.0)
    query = (1 + itself) / (2 * n_pairs + itself)
    rows = np.stack([items, np.where(pair >= asked, labels, 0.0)], axis=1).ravel()
    return np.append(rows, query)


def retrieved(
    alpha: float, beta: float, n_pairs: int, asked: int, mask: Mask, *, beta_1: float = 0.0
) -> Contents:
    """What the query retrieves in layer 2 when it asks for this pair."""
    scores = beta * item_shares(alpha, n_pairs, asked, mask)
    item, label = 2 * asked - 2, 2 * asked - 1
    scores[[item, -1]] += beta_1
    if mask == "strict":
        scores = scores[:-1]
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    own_item = shares[item] + (shares[-1] if mask == "causal" else 0.0)
    others = np.delete(shares[: 2 * n_pairs], [item, label])
    return Contents(float(shares[label]), float(own_item), others)


def loss(
    alpha: float,
    beta: float,
    gamma: float,
    n_pairs: int,
    *,
    asked: int | None,
    mask: Mask,
    beta_1: float = 0.0,
) -> float:
    """The population loss, 1 at zero; where `asked` is None, of any pair equally often."""
    pairs = range(1, n_pairs + 1) if asked is None else (asked,)
    contents = [retrieved(alpha, beta, n_pairs, q, mask, beta_1=beta_1) for q in pairs]
    return float(np.mean([gamma**2 * c.squares - 2 * gamma * c.target + 1 for c in contents]))
