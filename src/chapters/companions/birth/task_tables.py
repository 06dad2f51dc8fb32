"""Three tables of inner products, on which alone training depends.

The stream of a two-layer model stays in the span of n = N + T embeddings and of their n images
under W_OV^1. Weights act on it only through inner products with these 2n vectors, the basis.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from .model import Frozen, Trained


class Tables(NamedTuple):
    """The trained part of a network of two layers; rows are queries (outputs), columns keys."""

    kq1: Float[Tensor, "n n"]
    kq2: Float[Tensor, "m m"]
    out: Float[Tensor, "N m"]  # logits of what the last layer retrieves


class OneLayerTables(NamedTuple):
    """The trained part of a network of one layer, over the n embeddings alone."""

    kq1: Float[Tensor, "n n"]
    out: Float[Tensor, "N n"]


def bases(frozen: Frozen) -> tuple[Float[Tensor, "n d"], Float[Tensor, "2*n d"]]:
    """The embeddings, tokens first; the same followed by their images under W_OV^1."""
    x = torch.cat([frozen.e, frozen.p])
    return x, torch.cat([x, x @ frozen.ov1.T])


def tables(frozen: Frozen, trained: Trained) -> Tables | OneLayerTables:
    """All inner products that occur; differentiable."""
    x, both = bases(frozen)
    scale = x.shape[-1] ** -0.5
    first = x @ trained.kq[0] @ x.T * scale
    if len(trained.kq) == 1:
        return OneLayerTables(first, frozen.u @ (trained.o @ (frozen.v @ x.T)))
    second = both @ trained.kq[1] @ both.T * scale
    return Tables(first, second, frozen.u @ (trained.o @ (frozen.v @ both.T)))


def direct(frozen: Frozen, n_layers: int) -> Float[Tensor, "N m"]:
    """Logits of what stands in the stream before the last layer: frozen."""
    return frozen.u @ bases(frozen)[n_layers - 1].T
