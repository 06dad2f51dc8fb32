"""What did training leave behind? Shares of norm, emergence steps, exponents, ablations."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Real
from scipy import stats
from torch import Tensor
from torch.nn.functional import one_hot

from .fast import key_query_products
from .models import AttentionOnlyTransformer, Mask, Weights, allowed_positions, attention
from .subspace import INDUCTION_HEAD, NAMES, embed, project
from .tasks import TokenBatch


class Products(NamedTuple):
    """The complete behaviour of the transformer of §2 in its own directions (Fig. 2).

    With E, P the embeddings and E', P' what the first head writes for them, rows are queries and
    columns keys. `output` has a row a token and columns E, P, E', P' and what the second head
    writes for these four.
    """

    layer1: Float[np.ndarray, "n n"]
    layer2: Float[np.ndarray, "2*n 2*n"]
    output: Float[np.ndarray, "vocabulary 4*n"]


@torch.no_grad()
def products(model: AttentionOnlyTransformer) -> Products:
    """Key-query products and output matrix in the interpretable basis of §2.2."""

    def written(layer: int, basis: Tensor) -> Tensor:
        return model.project[layer] @ (model.value[layer] @ basis)

    embeddings = torch.cat([model.tokens, model.positions], dim=1)
    after_one = torch.cat([embeddings, written(0, embeddings)], dim=1)
    after_two = torch.cat([after_one, written(1, after_one)], dim=1)
    return Products(
        *(
            part.double().cpu().numpy()
            for part in (
                key_query_products(model, embeddings, 0),
                key_query_products(model, after_one, 1),
                model.output @ after_two,
            )
        )
    )


def logits(
    description: Products, batch: TokenBatch, mask: Mask
) -> Float[Tensor, "batch vocabulary"]:
    """The query's logits from the three matrices alone: a token is its coefficients (§2.2)."""
    layer1, layer2, output = (torch.from_numpy(part) for part in description)
    vocabulary = len(output)
    tokens = one_hot(batch.tokens, vocabulary)
    positions = one_hot(batch.positions, len(layer1) - vocabulary)
    stream = torch.cat([tokens, positions], dim=-1).to(output.dtype)
    allowed = allowed_positions(batch.tokens.shape[1], mask, stream.device)
    for scores in (layer1, layer2):
        retrieved = attention(stream @ scores @ stream.mT, allowed) @ stream
        stream = torch.cat([stream, retrieved], dim=-1)
    return stream[:, -1] @ output.T


def blocks(
    matrix: Float[np.ndarray, "rows columns"], size: int
) -> Float[np.ndarray, "block_rows block_columns size size"]:
    """The square blocks of a matrix; ValueError if its sides are no multiples of the size."""
    rows, columns = matrix.shape
    if rows % size or columns % size:
        raise ValueError(f"a {rows} x {columns} matrix has no blocks of size {size}")
    return matrix.reshape(rows // size, size, columns // size, size).swapaxes(1, 2)  # a view


def diagonal_share(block: Float[np.ndarray, "size size"], offset: int = 0) -> float:
    """The part of a block's squared norm on its diagonal (0) or sub-diagonal (-1), in [0, 1]."""
    return float((np.diagonal(block, offset) ** 2).sum() / (block**2).sum())


def head_lead(pseudo: Float[Tensor, "*runs 19"]) -> Float[Tensor, "*runs"]:
    """The least size among alpha_3, beta_2, gamma_3 over the greatest of the other sixteen."""
    head = torch.tensor([name in INDUCTION_HEAD for name in NAMES])
    return pseudo[..., head].abs().amin(dim=-1) / pseudo[..., ~head].abs().amax(dim=-1)


def norms(weights: Weights) -> tuple[Float[Tensor, "*runs"], Float[Tensor, "*runs"]]:
    """Frobenius norms inside and outside the 19-dimensional subspace."""
    pseudo, outside = project(weights)
    dim = weights.w3.shape[-1]
    squares = (part.square().sum(dim=(-2, -1)) for part in embed(pseudo, dim))
    return sum(squares).sqrt(), outside


def contrast(weights: Weights) -> Float[Tensor, "*runs"]:
    """Root mean square per direction, inside the subspace over outside it."""
    inside, outside = norms(weights)
    directions = sum(part.shape[-2] * part.shape[-1] for part in weights)
    return inside / outside * ((directions - len(NAMES)) / len(NAMES)) ** 0.5


def first_reached(
    steps: Real[np.ndarray, " times"], curves: Float[np.ndarray, "runs times"], level: float
) -> Float[np.ndarray, " runs"]:
    """The first recorded step at which each curve is at least `level`; infinity if never."""
    reached = curves >= level
    first = steps[reached.argmax(axis=1)].astype(float)
    return np.where(reached.any(axis=1), first, np.inf)


def first_fallen(
    steps: Real[np.ndarray, " times"], curves: Float[np.ndarray, "runs times"], level: float
) -> Float[np.ndarray, " runs"]:
    """The first recorded step at which each curve is at most `level`; infinity if never."""
    return first_reached(steps, -curves, -level)


class Exponent(NamedTuple):
    """A fitted power y = c x^slope with a two-sided confidence interval of the slope."""

    slope: float
    low: float
    high: float


def exponent(
    x: Real[np.ndarray, " points"], y: Real[np.ndarray, " points"], confidence: float = 0.95
) -> Exponent:
    """Least squares on doubly logarithmic axes, Student's interval; needs three points."""
    if len(x) < 3:
        raise ValueError(f"an exponent with an interval needs three points, got {len(x)}")
    fit = stats.linregress(np.log(x), np.log(y))
    half = float(stats.t.ppf((1 + confidence) / 2, len(x) - 2) * fit.stderr)
    return Exponent(float(fit.slope), float(fit.slope) - half, float(fit.slope) + half)
