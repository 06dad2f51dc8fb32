"""The three associative memories of the induction head in each of three models, by name."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from chapters.companions.birth.model import Frozen, Trained
from emergence.models import AttentionOnlyTransformer, Weights
from emergence.tasks import swap_halves

from .readings import AssociativeMemory


class Head(NamedTuple):
    """One entry a part of the head, in the order in which both accounts have them emerge."""

    output: AssociativeMemory  # gamma_3, W_OV^2
    match: AssociativeMemory  # beta_2, W_KQ^2
    previous: AssociativeMemory  # alpha_3, W_KQ^1


def minimal(weights: Weights) -> Head:
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


@torch.no_grad()
def tokens(model: AttentionOnlyTransformer) -> Head:
    """The transformer of §2, in its embeddings of this moment: it trains them, too."""
    embeddings, positions = model.W_E.T, model.W_pos.T
    written = embeddings @ (model.W_O[0] @ model.W_V[0]).T
    first, second = (
        query.T @ key * query.shape[0] ** -0.5
        for query, key in zip(model.W_Q, model.W_K, strict=True)
    )
    return Head(
        AssociativeMemory((model.W_O[1] @ model.W_V[1]).T, embeddings, model.W_U),
        AssociativeMemory(second, embeddings, written),
        AssociativeMemory(first, positions[1:], positions[:-1]),
    )


def stream(frozen: Frozen, trained: Trained, triggers: Int[Tensor, " k"]) -> Head:
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


def planted(memory: AssociativeMemory, strength: float) -> Float[Tensor, "n m"]:
    """The outer-product sum of a memory, so large that the mean score is `strength`."""
    target = memory.target
    return target * strength / AssociativeMemory(target, *memory[1:]).table.diagonal().mean()
