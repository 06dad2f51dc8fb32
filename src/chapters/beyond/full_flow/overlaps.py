"""The first order in 1/D of the full model's loss, from the overlaps of Gaussian vectors.

Inside the subspace of Theorem 1 the loss of a sequence is a smooth function of the inner products
of its vectors, divided by D. For independent N(0, 1) entries these have the mean of orthonormal
vectors. They are uncorrelated, with variance 1/D between two vectors and 2/D of a vector with
itself or with its own swap, and their higher cumulants are O(1/D^2). So the mean loss is
L + L_1/D + O(1/D^2), where L_1 is half the sum of its second derivatives by all of them, those of
a vector with itself counted twice.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.func import grad, vmap

from emergence.tasks import Query
from emergence.theory import Landscape, landscape_of

Grams = tuple[Tensor, Tensor, Tensor]  # of items and labels, of positions, of those with swapped


def landscape(n_pairs: int, dim: int, query: Query = "last") -> Landscape:
    """The full model's to first order in 1/D, in the units of scores D alpha and D beta.

    A gradient takes a time of order N^6: for few pairs.
    """
    limit = landscape_of(n_pairs, query, model="full")
    slope = grad(lambda point: overlap_loss(point, n_pairs, query))

    def loss(*parameters: float) -> float:
        return (
            limit.loss(*parameters) + float(overlap_loss(_point(parameters), n_pairs, query)) / dim
        )

    def gradient(*parameters: float) -> tuple[float, ...]:
        first = np.array(limit.gradient(*parameters))
        return tuple((first + slope(_point(parameters)).numpy() / dim).tolist())

    return limit._replace(loss=loss, gradient=gradient)


def overlap_loss(point: Float[Tensor, "19"], n_pairs: int, query: Query) -> Float[Tensor, ""]:
    """L_1, the coefficient of 1/D."""
    grams = (
        torch.eye(2 * n_pairs, dtype=point.dtype),
        torch.eye(n_pairs, dtype=point.dtype),
        torch.zeros(n_pairs, n_pairs, dtype=point.dtype),
    )

    def second(*direction: Tensor) -> Tensor:
        """The second derivative along a direction."""

        def along(step: Tensor) -> Tensor:
            contents, same, swapped = (
                gram + step * part for gram, part in zip(grams, direction, strict=True)
            )
            return gram_loss(point, (contents, same, swapped), query)

        return grad(grad(along))(point.new_zeros(()))

    return vmap(second)(*_directions(n_pairs, point.dtype)).sum() / 2


def gram_loss(point: Float[Tensor, "19"], grams: Grams, query: Query) -> Float[Tensor, ""]:
    """The loss of a sequence by its inner products over D, the mean over what may be asked."""
    contents, same, swapped = grams
    rows = torch.arange(len(contents))
    pair, kind = rows // 2, rows % 2  # a label stands at the swapped position of its item
    alike = kind[:, None] == kind
    near, far = same[pair][:, pair], swapped[pair][:, pair]
    positions, partners = torch.where(alike, near, far), torch.where(alike, far, near)
    alpha, beta, gamma = point.split([3, 12, 4])

    earlier = torch.ones_like(alike).tril(-1)
    scores = alpha[0] * contents + alpha[1] * positions + alpha[2] * partners
    paid = scores.masked_fill(~earlier, -1e300).softmax(dim=-1) * earlier
    held = paid @ contents

    def of_query(item: Tensor, label: Tensor) -> Tensor:
        """The squared error for one query, given as the rows of its pair."""
        asked = item @ contents
        looked = (alpha[0] * asked).softmax(dim=-1)
        scores = (
            beta[0] * asked
            + beta[1] * (held @ item)
            + beta[6] * (contents @ looked)
            + beta[7] * (held @ looked)
            + beta[8] * (positions @ looked)
            + beta[9] * (partners @ looked)
            + beta[10] * (paid @ (positions @ looked))
            + beta[11] * (paid @ (partners @ looked))
        )
        attention = scores.softmax(dim=-1)
        output = gamma[0] * item + gamma[1] * looked + gamma[2] * attention
        output = output + gamma[3] * (attention @ paid)
        error = output - label
        return error @ contents @ error

    choices = torch.eye(len(contents), dtype=point.dtype)
    if query == "last":
        return of_query(choices[-2], choices[-1])
    return vmap(of_query)(choices[::2], choices[1::2]).mean()


def _directions(n_pairs: int, dtype: torch.dtype) -> Grams:
    """Each inner product of two vectors once, times the root of D times its variance."""
    sizes = (2 * n_pairs, n_pairs, n_pairs)
    moved: list[list[Tensor]] = [[], [], []]
    for which, size in enumerate(sizes):
        for i in range(size):
            for j in range(i, size):
                for other, other_size in enumerate(sizes):
                    step = torch.zeros(other_size, other_size, dtype=dtype)
                    if other == which:
                        step[i, j] = step[j, i] = 2**0.5 if i == j else 1.0
                    moved[other].append(step)
    contents, same, swapped = (torch.stack(steps) for steps in moved)
    return contents, same, swapped


def _point(parameters: tuple[float, ...]) -> Float[Tensor, "19"]:
    return torch.tensor(parameters, dtype=torch.float64)
