"""Both probes of one associative memory, and the three memories of a head in each model.

A memory is a list of associations between vectors, `left` with `right` (a query with its key, an
input with its output), and a matrix W that is to hold them. Both accounts look at the same table
of scores left_i . W right_j. The paper's projection is the mean of its diagonal, in units of the
vectors' lengths; the recall asks in how many rows the diagonal is greatest.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from chapters.companions.birth.attention import recall
from chapters.companions.birth.model import Frozen, Trained
from emergence.models import Weights
from emergence.tasks import swap_halves


class AssociativeMemory(NamedTuple):
    """M associations and the matrix that is to hold them."""

    weight: Float[Tensor, "n m"]
    left: Float[Tensor, "M n"]
    right: Float[Tensor, "M m"]

    @property
    def table(self) -> Float[Tensor, "M M"]:
        """Scores of every left vector with every right one."""
        return self.left @ self.weight @ self.right.T

    @property
    def target(self) -> Float[Tensor, "n m"]:
        """The outer-product sum of the associations."""
        return self.left.T @ self.right


class Reading(NamedTuple):
    """What both probes say of one memory."""

    recall: float  # share of associations whose score is the greatest of its row
    coefficient: float  # of the outer-product sum in W, by orthogonal projection
    strength: float  # mean score of an association
    contrast: float  # norm along the sum over norm per direction elsewhere; signed


def read_memory(memory: AssociativeMemory) -> Reading:
    """Both probes of a memory, in double precision."""
    weight, *_ = memory = AssociativeMemory(*(part.detach().double() for part in memory))
    table, target = memory.table, memory.target
    square = float(target.square().sum())
    coefficient = float(table.trace()) / square
    outside = max(0.0, float(weight.square().sum()) - coefficient**2 * square)
    noise = (outside / (weight.numel() - 1)) ** 0.5
    along = coefficient * square**0.5
    contrast = along / noise if noise else np.copysign(np.inf, along) if along else 0.0
    strength = float(table.diagonal().mean())
    return Reading(recall(table), coefficient, strength, float(contrast))


class Head(NamedTuple):
    """One entry a part of the head, in the order in which both accounts have them emerge."""

    output: AssociativeMemory  # gamma_3, W_OV^2
    match: AssociativeMemory  # beta_2, W_KQ^2
    previous: AssociativeMemory  # alpha_3, W_KQ^1


def minimal_head(weights: Weights) -> Head:
    """The disentangled transformer of one run, whose vectors have no list.

    Any orthonormal frame does: its outer-product sum is I, or M where one side is swapped, so
    that coefficients are pseudo-parameters, exactly. We take the axes.
    """
    dim = weights.w3.shape[-1]
    axes = torch.eye(dim, dtype=weights.w3.dtype, device=weights.w3.device)
    return Head(
        AssociativeMemory(weights.w3[4 * dim : 5 * dim], axes, axes),
        AssociativeMemory(weights.w2[:dim, 2 * dim : 3 * dim], axes, axes),
        AssociativeMemory(weights.w1[dim:, dim:], swap_halves(axes), axes),
    )


def stream_head(frozen: Frozen, trained: Trained, triggers: Int[Tensor, " k"]) -> Head:
    """The model of bigrams in context, two layers.

    W_OV^2 is o v with v frozen, so its memory lies in o, between values and outputs. Positions
    are those of the first quarter, as in chapter 07 and the source's code.
    """
    scale = frozen.e.shape[-1] ** -0.5
    asking, early = frozen.e[triggers], frozen.p[: max(2, len(frozen.p) // 4)]
    return Head(
        AssociativeMemory(trained.o.T, frozen.e @ frozen.v.T, frozen.u),
        AssociativeMemory(trained.kq[1] * scale, asking, asking @ frozen.ov1.T),
        AssociativeMemory(trained.kq[0] * scale, early[1:], early[:-1]),
    )
