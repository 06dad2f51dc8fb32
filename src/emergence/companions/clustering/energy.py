"""The energy of clustering and alignment, and its forces; both are this project's design.

With s the markers of normalised embeddings, and means over pairs of markers with the same sum
and with different sums,

    U = (1 - mix) [<K>_different - <K>_same] + mix [<cos 2 D>_different - <cos 2 D>_same],

K = exp(-|s - s'|^2 / 2 width^2), D the angle between s and s' seen from the centre.
"""

from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor

from .markers import incidence, normalise, other_sum, places, same_sum, scale, shape_only

TINY = 1e-12  # of |s|^2: at the centre a marker has no angle


@cache
def pair_weights(
    n: int, dtype: torch.dtype, device: torch.device
) -> Float[Tensor, "markers markers"]:
    """What each ordered pair of markers counts in U: minus and plus a mean."""
    same, other = same_sum(n).double(), other_sum(n).double()
    return (other / other.sum() - same / same.sum()).to(device, dtype)


def _weights(embeddings: Float[Tensor, "*runs n 2"]) -> Float[Tensor, "markers markers"]:
    return pair_weights(embeddings.shape[-2], embeddings.dtype, embeddings.device)


def energy(
    embeddings: Float[Tensor, "*runs n 2"],
    mix: float | Float[Tensor, "*runs"],
    width: float | Float[Tensor, "*runs"],
) -> Float[Tensor, "*runs"]:
    """U, written as it is defined: the slow form that `forces` is tested against."""
    marks = places(normalise(embeddings))
    weights = _weights(embeddings)
    apart = (marks[..., :, None, :] - marks[..., None, :, :]).square().sum(dim=-1)
    angle = torch.atan2(marks[..., 1], marks[..., 0])
    turned = torch.cos(2 * (angle[..., :, None] - angle[..., None, :]))
    kernel = torch.exp(-apart / (2 * _spread(width, embeddings) ** 2))
    return ((1 - mix) * (weights * kernel).sum(dim=(-2, -1))) + mix * (weights * turned).sum(
        dim=(-2, -1)
    )


def forces(
    embeddings: Float[Tensor, "*runs n 2"],
    mix: float | Float[Tensor, "*runs"],
    width: float | Float[Tensor, "*runs"],
) -> Float[Tensor, "*runs n 2"]:
    """-grad U: the pair forces below, added up over partners and carried over to embeddings."""
    marks = places(normalise(embeddings))
    share = _spread(mix, embeddings)
    on_marks = (1 - share) * clustering(marks, _weights(embeddings), _spread(width, embeddings))
    on_marks = on_marks + share * alignment(marks, _weights(embeddings))
    matrix = incidence(embeddings.shape[-2], embeddings.dtype, embeddings.device)
    return shape_only(matrix.mT @ on_marks, embeddings) / scale(embeddings)


def clustering(
    marks: Float[Tensor, "*runs markers 2"],
    weights: Float[Tensor, "markers markers"],
    width: Float[Tensor, "*runs 1 1"],
) -> Float[Tensor, "*runs markers 2"]:
    """On each marker the sum over partners of 2 w K (s - s') / width^2.

    The exponent -|s - s'|^2 / 2 width^2 of every pair is one product of vectors in four
    dimensions, and so the forces are two matrix products.
    """
    unit = marks / width
    half = unit.square().sum(dim=-1, keepdim=True) / 2
    one = torch.ones_like(half)
    exponent = torch.cat((unit, half, one), dim=-1) @ torch.cat((unit, -one, -half), dim=-1).mT
    strength = exponent.exp_().mul_(weights)
    pulled = strength @ torch.cat((marks, one), dim=-1)
    return 2 * (pulled[..., 2:] * marks - pulled[..., :2]) / width**2


def alignment(
    marks: Float[Tensor, "*runs markers 2"], weights: Float[Tensor, "markers markers"]
) -> Float[Tensor, "*runs markers 2"]:
    """On each marker the sum over partners of 4 w sin(2 D) (-y, x) / |s|^2.

    cos 2D is a product of the vectors (cos 2 theta, sin 2 theta), so partners add up first.
    """
    x, y = marks.unbind(dim=-1)
    square = (x * x + y * y).clamp(min=TINY)
    double = torch.stack(((x * x - y * y) / square, 2 * x * y / square), dim=-1)
    partners = weights @ double
    turn = double[..., 1] * partners[..., 0] - double[..., 0] * partners[..., 1]
    return (4 * turn / square)[..., None] * torch.stack((-y, x), dim=-1)


def _spread(
    value: float | Float[Tensor, "*runs"], like: Float[Tensor, "*runs n 2"]
) -> Float[Tensor, "*runs 1 1"]:
    """A number, or one a run, as a factor of matrices of each run."""
    numbers = torch.as_tensor(value, dtype=like.dtype, device=like.device)
    return numbers.expand(like.shape[:-2])[..., None, None]
