"""Recall of an associative memory: how often its table of scores is greatest on the diagonal."""

import torch
from jaxtyping import Float
from torch import Tensor


def recall(scores: Float[Tensor, "M M"]) -> float:
    """R: how often the entry on the diagonal is the greatest of its row."""
    wanted = torch.arange(len(scores), device=scores.device)
    return float((scores.argmax(dim=1) == wanted).double().mean())
