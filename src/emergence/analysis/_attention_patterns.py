"""Attention, answer and loss of the network of alpha, beta, gamma on one context."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from emergence.models import Weights, allowed_positions, apply, attention, disentangled_output
from emergence.subspace import HEAD, NAMES, PseudoParameters, embed
from emergence.tasks import orthonormal_pairs


class Circuit(NamedTuple):
    """Attention of both layers, row looks at column; the answer along each symbol; the loss."""

    layer1: Float[np.ndarray, "length length"]
    layer2: Float[np.ndarray, "length length"]
    output: Float[np.ndarray, " symbols"]
    loss: float


def head_weights(head: Float[Tensor, "3"], dim: int) -> Weights:
    """Weights of Eq. 1 in which only alpha_3, beta_2 and gamma_3 are not zero."""
    values = torch.zeros(len(NAMES), dtype=torch.float64)
    values[HEAD] = head
    return embed(PseudoParameters.unstack(values), dim)


def attentions(
    weights: Weights, x: Float[Tensor, "batch length width"]
) -> tuple[Float[Tensor, "batch length length"], Float[Tensor, "batch length length"]]:
    """What each row of a sequence attends to in layer 1 and in layer 2, under the strict mask."""
    allowed = allowed_positions(x.shape[1], "strict", x.device)
    first = attention(apply(x, weights.w1) @ x.mT, allowed)
    h1 = torch.cat([x, first @ x], dim=-1)
    return first, attention(apply(h1, weights.w2) @ h1.mT, allowed)


def circuit(alpha: float, beta: float, gamma: float, n_pairs: int, pair: int) -> Circuit:
    """The network of Eq. 1 on orthonormal inputs; the query asks for `pair`, from 0.

    Raises ValueError for a pair outside the context.
    """
    if not 0 <= pair < n_pairs:
        raise ValueError(f"the pair asked for must be in 0..{n_pairs - 1}, got {pair}")
    dim = 2 * n_pairs
    weights = head_weights(torch.tensor([alpha, beta, gamma], dtype=torch.float64), dim)
    # Which orthonormal vectors are drawn makes no difference.
    batch = orthonormal_pairs(1, n_pairs, dim, generator=torch.Generator().manual_seed(0))
    x = batch.inputs
    x[:, -1, :dim] = x[:, 2 * pair, :dim]
    layer1, layer2 = attentions(weights, x)
    symbols = x[0, :-1, :dim]
    answer = disentangled_output(weights, x)[0]
    loss = float((answer - symbols[2 * pair + 1]).square().sum())
    return Circuit(layer1[0].numpy(), layer2[0].numpy(), (symbols @ answer).numpy(), loss)
