"""Sliding along kinks: what Filippov's flow wants of the units that sit on their kinks.

Where both sides of the kink of an input z_ik = x_i E_k push towards it, descent stays there, and
the unit is on for a share s_ik of the time. Filippov's flow has the share that keeps z_ik at 0.
On Z that share follows from the multipliers of the projection, with nothing fitted.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from .manifold import Projection, jacobian_transposed, restricted
from .model import RELU, Layers

BINS = 10  # of a share of time, in tables of measured against predicted ones


class Gates(NamedTuple):
    """Shares of time of held inputs, those of units whose held inputs are independent."""

    predicted: Float[Tensor, "*runs n hidden"]  # NaN where there is no prediction
    known: Bool[Tensor, "*runs n hidden"]


class Agreement(NamedTuple):
    """Measured against predicted shares of time, over all inputs that are known."""

    inside: Float[Tensor, "*runs"]  # share of predictions in [0, 1], Filippov's condition
    explained: Float[Tensor, "*runs"]  # 1 - mean squared difference over variance of the measured
    table: Int[Tensor, "*runs predicted measured"]  # counts in ten bins each way


def gates(
    theta: Layers,
    at: Layers,
    inputs: Float[Tensor, "*runs n p"],
    held: Bool[Tensor, "*runs n hidden"],
    free: Float[Tensor, "*runs hidden p p"],
    projection: Projection,
) -> Gates:
    """The shares of time that hold these inputs at 0 while -theta pulls along Z.

    `free` and `projection` are `manifold.free_directions` of the held inputs and
    `manifold.norm_minimising` with them. The loss pushes with -J^T m, where J counts an input
    with its gate, 0 or 1. The push that is missing to hold the inputs of unit k lies in the span
    of their rows x_i. Written as sum_i x_i d_ik it changes the gate of input i by
    d_ik / (m W^T)_ik.
    """
    multipliers = projection.multipliers
    left = theta.moved(jacobian_transposed(at, inputs, multipliers), -1.0)
    missing = left.moved(restricted(left, free), -1.0).embeddings  # runs, p, hidden
    rows = held.mT.unsqueeze(-1) * inputs.unsqueeze(-3)  # runs, hidden, n, p
    values, vectors = torch.linalg.eigh(rows.mT @ rows)  # moments of integers: 0 or of order one
    spanned = values > 1e-9
    inverse = (vectors * (spanned / values.where(spanned, 1.0)).unsqueeze(-2)) @ vectors.mT
    coefficients = (rows @ inverse @ missing.mT.unsqueeze(-1)).squeeze(-1)  # runs, hidden, n
    independent = spanned.sum(dim=-1) == held.sum(dim=-2)
    gate = RELU.slope(inputs @ at.embeddings)
    push = multipliers @ at.output.mT
    known = held & independent.unsqueeze(-2) & (push != 0)
    predicted = gate + coefficients.mT / push.where(known, 1.0)
    return Gates(predicted.where(known, torch.nan), known)


def agreement(found: Gates, measured: Float[Tensor, "*runs n hidden"]) -> Agreement:
    """Compare predicted with measured shares of time; NaN for a run where none is known."""
    known, count = found.known, found.known.sum(dim=(-2, -1))
    predicted = found.predicted.nan_to_num()
    inside = ((predicted >= 0) & (predicted <= 1) & known).sum(dim=(-2, -1)) / count
    clipped = predicted.clamp(0, 1)
    apart = ((clipped - measured).square() * known).sum(dim=(-2, -1))
    mean = (measured * known).sum(dim=(-2, -1), keepdim=True) / count[..., None, None]
    spread = ((measured - mean).square() * known).sum(dim=(-2, -1))
    place = [(BINS * part).long().clamp(0, BINS - 1) for part in (clipped, measured)]
    cell = torch.where(known, BINS * place[0] + place[1], BINS * BINS).flatten(-2)
    table = torch.zeros(*cell.shape[:-1], BINS * BINS + 1, dtype=torch.long)
    table.scatter_add_(-1, cell, torch.ones_like(cell))
    return Agreement(inside, 1 - apart / spread, table[..., :-1].unflatten(-1, (BINS, BINS)))
