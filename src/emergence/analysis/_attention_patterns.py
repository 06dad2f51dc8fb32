"""Attention, answer and loss of the network of alpha, beta, gamma on one context."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from emergence.models import Mask, Weights, allowed_positions, apply, attention, disentangled_output
from emergence.subspace import HEAD, NAMES, PseudoParameters, embed
from emergence.tasks import orthonormal_pairs


class Circuit(NamedTuple):
    """What the network of alpha_3, beta_2 and gamma_3 computes for one context (§5, Fig. 1).

    Attributes:
        layer1: attention of layer 1; each row attends to the columns.
        layer2: attention of layer 2.
        output: the answer along each of the 2N symbols.
        loss: squared norm of the error, summed over dimensions.
    """

    layer1: Float[np.ndarray, "length length"]
    layer2: Float[np.ndarray, "length length"]
    output: Float[np.ndarray, " symbols"]
    loss: float


def head_weights(head: Float[Tensor, "3"], dim: int) -> Weights:
    """Weights of Eq. 1 in which only alpha_3, beta_2 and gamma_3 are not zero (§5).

    Args:
        head: the three values, in float64.
        dim: dimension D of an item, label or position, even and >= 2.

    Raises:
        ValueError: if the dimension is out of its range.
    """
    values = torch.zeros(len(NAMES), dtype=torch.float64)
    values[HEAD] = head
    return embed(PseudoParameters.unstack(values), dim)


def attentions(
    weights: Weights, x: Float[Tensor, "batch length width"], *, mask: Mask = "strict"
) -> tuple[Float[Tensor, "batch length length"], Float[Tensor, "batch length length"]]:
    """The attention of both layers of Eq. 1, of each row to the columns (§3).

    Args:
        weights: the weights of one network.
        x: sequences of 2N + 1 rows of width 2D (Eqs. 3, 4).
        mask: `strict`, without the position itself (App. B.2), or `causal`, with it.

    Raises:
        ValueError: if the mask is unknown.
    """
    allowed = allowed_positions(x.shape[1], mask, x.device)
    first = attention(apply(x, weights.w1) @ x.mT, allowed)
    h1 = torch.cat([x, first @ x], dim=-1)
    return first, attention(apply(h1, weights.w2) @ h1.mT, allowed)


def circuit(alpha: float, beta: float, gamma: float, n_pairs: int, pair: int) -> Circuit:
    """Attention, answer and loss of the network of Eq. 1 on one orthonormal context (§5).

    Args:
        alpha, beta, gamma: the values of alpha_3, beta_2 and gamma_3.
        n_pairs: pairs N in the context, >= 1.
        pair: the pair that the query asks for, counted from 0.

    Raises:
        ValueError: if the pair is not in the context.
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
