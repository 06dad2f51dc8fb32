"""Misprints of App. A: the printed and the intended form, both measured on the real model."""

from typing import NamedTuple

import torch
from torch import Tensor

from emergence.models import Mask, Weights
from emergence.tasks import Batch

from .rotation import Passes, Rotation, forward_and_backward, rotate, violation


class Slip(NamedTuple):
    """Relative violation of an equation as printed and as meant."""

    printed: float
    meant: float


def all_slips(
    weights: Weights, batch: Batch, rotation: Rotation, mask: Mask = "strict"
) -> dict[str, Slip]:
    """Every slip that a number can show, at structured weights, under the rotation of the data."""
    before, after = (
        forward_and_backward(weights, batch, mask),
        forward_and_backward(weights, rotate(batch, rotation), mask),
    )
    d, dt, e = before.gradients, after.gradients, rotation.e
    dv, dv_t = (_blocked(gradients["V"], len(e))[..., 0::2, :] for gradients in (d, dt))
    repeated = weights.w2[: len(e)].repeat(4, 1)
    u = before.values["U"]
    return {
        "A.4, rows of W2": Slip(
            violation(u @ repeated @ u.mT, before.values["P"]),
            violation(u @ weights.w2 @ u.mT, before.values["P"]),
        ),
        "Eq. 12": Slip(violation(dv_t @ e, dv), violation(dv_t, dv @ e)),
        "A.7.2, dL/dP": Slip(
            violation(_score_gradient(before, "Q", same_row=True), d["P"]),
            violation(_score_gradient(before, "Q", same_row=False), d["P"]),
        ),
        "Eq. 14, keys": Slip(
            violation(stream_gradient(before, weights, keys=False), d["U"]),
            violation(stream_gradient(before, weights), d["U"]),
        ),
        "Eq. 15, W2": Slip(
            violation(stream_gradient(before, weights, weighted=False), d["U"]),
            violation(stream_gradient(before, weights), d["U"]),
        ),
        "A.7.2, dL/dU": Slip(violation(dt["U"], _turned(dt["U"], rotation)),
                             violation(dt["U"], _turned(d["U"], rotation))),
        "A.7.3, dL/dS": Slip(
            violation(_score_gradient(before, "T", same_row=True), d["S"]),
            violation(_score_gradient(before, "T", same_row=False), d["S"]),
        ),
    }  # fmt: skip


def stream_gradient(
    found: Passes, weights: Weights, *, keys: bool = True, weighted: bool = True
) -> Tensor:
    """dL/dU by the chain rule (Eq. 14): directly, through Q U, and through P as query and as key.

    Without `keys` the last term is missing, as in Eq. 14; without `weighted` dP/dU is U instead
    of U W2^T, as in Eq. 15.
    """
    u, q, d = found.values["U"], found.values["Q"], found.gradients
    direct, retrieved = d["V"].chunk(2, dim=-1)
    w2 = weights.w2 if weighted else torch.eye(len(weights.w2), dtype=u.dtype)
    total = direct + q.mT @ retrieved + d["P"] @ u @ w2.mT
    return total + d["P"].mT @ u @ w2 if keys else total


def _score_gradient(found: Passes, name: str, *, same_row: bool) -> Tensor:
    """dL/dP from dL/dQ, or dL/dS from dL/dT, by the derivative of the softmax.

    With `same_row` the retrieved row carries the summation index j instead of k, as printed: then
    only j = k contributes, what a position retrieves from itself.
    """
    pattern, gradient = found.values[name], found.gradients[name]
    if same_row:
        gradient = torch.diag_embed(gradient.diagonal(dim1=-2, dim2=-1))
    return pattern * (gradient - (gradient * pattern).sum(dim=-1, keepdim=True))


def _blocked(rows: Tensor, dim: int) -> Tensor:
    return rows.unflatten(-1, (-1, dim))


def _turned(rows: Tensor, rotation: Rotation) -> Tensor:
    blocks = _blocked(rows, len(rotation.e)).clone()
    blocks[..., 0::2, :] = blocks[..., 0::2, :] @ rotation.e
    blocks[..., 1::2, :] = blocks[..., 1::2, :] @ rotation.f
    return blocks.flatten(-2)
