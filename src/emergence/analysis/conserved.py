"""What gradient flow of an attention layer conserves, whatever the data (Marcotte et al. 2025)."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from emergence.models import AttentionOnlyTransformer


class Balance(NamedTuple):
    """A conserved matrix of a layer, and the half of it that is not conserved alone.

    Attributes:
        law: `QK` or `VO`, with the number of the layer.
        difference: W_Q W_Q^T - W_K W_K^T or W_V W_V^T - W_O^T W_O.
        half: W_Q W_Q^T or W_V W_V^T.
    """

    law: str
    difference: Float[Tensor, "dim dim"]
    half: Float[Tensor, "dim dim"]


def balances(model: AttentionOnlyTransformer) -> tuple[Balance, ...]:
    """The four balances of the transformer of §2 (Marcotte et al. 2025).

    The loss knows W_Q and W_K by the product W_Q^T W_K alone, W_V and W_O by W_O W_V. So the two
    Gram matrices of a pair change alike under gradient flow, on any batch.

    Args:
        model: the network.

    Returns:
        The balances of queries and keys and of values and outputs, layer by layer.

    Example:
        >>> stream = torch.Generator().manual_seed(0)
        >>> model = models.AttentionOnlyTransformer(8, 4, 5, embedding_scale=1.0, generator=stream)
        >>> [balance.law for balance in analysis.balances(model)]
        ['QK 1', 'VO 1', 'QK 2', 'VO 2']
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

    Args:
        before: the network at the start.
        after: the network of the same size after training.

    Returns:
        Norm of the change of the difference over that of the change of the half, by law: zero for
        what is conserved, of order one for what is not; nan where nothing moved.
    """
    return {
        first.law: float(
            (last.difference - first.difference).norm() / (last.half - first.half).norm()
        )
        for first, last in zip(balances(before), balances(after), strict=True)
    }
