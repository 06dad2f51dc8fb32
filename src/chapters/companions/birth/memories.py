"""Recall of the three target memories sum_i u_i e_i^T, and the recall that chance would give."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from .model import Frozen, Trained


def recall(scores: Float[Tensor, "M M"]) -> float:
    """R: how often the entry on the diagonal is the greatest of its row."""
    wanted = torch.arange(len(scores), device=scores.device)
    return float((scores.argmax(dim=1) == wanted).double().mean())


class Recalls(NamedTuple):
    """R of the three memories of the induction head, each with the number of its entries M."""

    ov2: float  # an attended token is written as an output
    kq2: float  # a trigger attends to what layer 1 wrote of itself
    kq1: float  # a position attends to the previous one
    kq1_early: float  # the same among the first quarter of the positions, the source's 64 of 256


def recalls(frozen: Frozen, trained: Trained, triggers: Int[Tensor, " k"]) -> Recalls:
    """The recalls of a model of two layers."""
    ov2 = frozen.e @ frozen.v.T @ trained.o.T @ frozen.u.T
    kq2 = _match_scores(frozen, trained, triggers)

    def previous(count: int) -> float:
        positions = frozen.p[:count]
        return recall(positions[1:] @ trained.kq[0] @ positions[:-1].T)

    length = len(frozen.p)
    return Recalls(recall(ov2), recall(kq2), previous(length), previous(max(2, length // 4)))


def _match_scores(
    frozen: Frozen, trained: Trained, triggers: Int[Tensor, " k"]
) -> Float[Tensor, "k k"]:
    """What a trigger asks of what layer 1 wrote of each."""
    asking = frozen.e[triggers]
    return asking @ trained.kq[1] @ (asking @ frozen.ov1.T).T


def matched(
    frozen: Frozen, trained: Trained, triggers: Int[Tensor, " k"], weights: Float[Tensor, " k"]
) -> float:
    """The recall of W_KQ^2 where triggers do not count alike, but by their weights."""
    scores = _match_scores(frozen, trained, triggers)
    hits = scores.argmax(dim=1) == torch.arange(len(scores), device=scores.device)
    return float((hits * weights).sum() / weights.sum())


def entries(n_tokens: int, n_triggers: int, length: int) -> tuple[int, int, int, int]:
    """M, the number of entries of each memory of `Recalls`; 1/M is the recall by chance."""
    return n_tokens, n_triggers, length - 1, max(2, length // 4) - 1


def learnt(curve: Float[np.ndarray, "*any"], count: int) -> Float[np.ndarray, "*any"]:
    """The share of a memory of M entries beyond what chance recalls: 0 at 1/M, 1 at 1."""
    return (curve - 1 / count) / (1 - 1 / count)
