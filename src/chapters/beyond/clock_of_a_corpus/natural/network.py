"""The language model with the previous-token step given: a knock-in of alpha."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ..network import CorpusTransformer

SHARPNESS = 100.0  # of the scores that are given; those of training are of order one


class GivenPrevious(CorpusTransformer):
    """The network whose first head of layer 1 attends to the previous token from the beginning.

    Queries and keys of this head are given and not trained, so that alpha does not have to grow.
    The first token attends to itself.
    """

    def _heads(self, layer: int, x: Float[Tensor, "batch length dim"]) -> tuple[Tensor, ...]:
        query, key, value = super()._heads(layer, x)
        if layer == 0:
            places = codes(x.shape[1] + 1, query.shape[-1]).to(x)
            placed = places.expand(x.shape[0], 1, -1, -1)
            query = torch.cat([SHARPNESS * placed[:, :, :-1], query[:, 1:]], dim=1)
            key = torch.cat([placed[:, :, 1:], key[:, 1:]], dim=1)
        return query, key, value


def codes(length: int, dim: int) -> Float[Tensor, "length dim"]:
    """A vector of norm one for each place, nearly orthogonal to those of all other places."""
    stream: Any = torch.Generator().manual_seed(0)
    drawn = torch.randn(length, dim, generator=stream)
    return drawn / drawn.norm(dim=1, keepdim=True)
