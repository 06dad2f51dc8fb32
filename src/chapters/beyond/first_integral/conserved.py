"""What gradient flow of an attention layer conserves for any data (Marcotte et al. 2025)."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from emergence.models import AttentionOnlyTransformer
from emergence.training import TokenTraining, initial_transformer, train_tokens
from running.devices import generator
from running.memo import kept


class Balance(NamedTuple):
    """A conserved matrix of a layer, and the half of it that is not conserved alone."""

    law: str  # `QK` or `VO`, with the number of the layer
    difference: Float[Tensor, "dim dim"]  # W_Q W_Q^T - W_K W_K^T or W_V W_V^T - W_O^T W_O
    half: Float[Tensor, "dim dim"]  # W_Q W_Q^T or W_V W_V^T


def balances(model: AttentionOnlyTransformer) -> tuple[Balance, ...]:
    """The four balances of the transformer of §2 (Marcotte et al. 2025).

    The loss knows W_Q and W_K by the product W_Q^T W_K alone, W_V and W_O by W_O W_V. So the two
    Gram matrices of a pair change alike under gradient flow, on any batch. Layer by layer, the
    balances are called `QK 1`, `VO 1`, `QK 2` and `VO 2`.
    """
    found = []
    with torch.no_grad():
        for i in range(2):
            queries, keys = (w @ w.T for w in (model.W_Q[i], model.W_K[i]))
            values, outputs = model.W_V[i] @ model.W_V[i].T, model.W_O[i].T @ model.W_O[i]
            found.append(Balance(f"QK {i + 1}", queries - keys, queries))
            found.append(Balance(f"VO {i + 1}", values - outputs, values))
    return tuple(found)


def drifts(before: AttentionOnlyTransformer, after: AttentionOnlyTransformer) -> dict[str, float]:
    """How far training moved each balance, relative to how far it moved a half of it (this book).

    By law, the norm of the change of the difference over that of the change of the half: zero for
    what is conserved, of order one for what is not, and nan where nothing moved.
    """
    return {
        first.law: float(
            (last.difference - first.difference).norm() / (last.half - first.half).norm()
        )
        for first, last in zip(balances(before), balances(after), strict=True)
    }


@kept
def moved(settings: TokenTraining, seed: int, *, device: torch.device) -> dict[str, float]:
    """How far a training moves each balance of the transformer of §2, as `drifts` says."""
    start = initial_transformer(settings, generator(seed, device))
    label = f"rate {settings.learning_rate:g}, seed {seed}"
    return drifts(start, train_tokens(settings, seed, device=device, label=label).model)
