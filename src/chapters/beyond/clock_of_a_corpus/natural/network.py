"""The language model with the previous-token step given: a knock-in of alpha."""

from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor

from ..network import CorpusTransformer

Heads = Float[Tensor, "batch heads length part"]
SHARPNESS = 100.0  # of the scores that are given; those of training are of order one


class GivenPrevious(CorpusTransformer):
    """The network whose first head of layer 1 attends to the previous token from the beginning.

    Queries and keys of this head are given and not trained, so that alpha does not have to grow.
    The first token attends to itself.
    """

    def _heads(self, layer: int, x: Float[Tensor, "batch length dim"]) -> tuple[Tensor, ...]:
        query, key, value = super()._heads(layer, x)
        return (*given_previous(query, key), value) if layer == 0 else (query, key, value)


def given_previous(query: Heads, key: Heads) -> tuple[Heads, Heads]:
    """Queries and keys; those of the first head are given, and attend to the previous place."""
    places = codes(query.shape[2] + 1, query.shape[3], query.device).expand(len(query), 1, -1, -1)
    return (
        torch.cat([SHARPNESS * places[:, :, :-1], query[:, 1:]], dim=1),
        torch.cat([places[:, :, 1:], key[:, 1:]], dim=1),
    )


@cache
def codes(length: int, dim: int, device: torch.device) -> Float[Tensor, "length dim"]:
    """A vector of norm one for each place, nearly orthogonal to those of all other places."""
    drawn = torch.randn(length, dim, generator=torch.Generator().manual_seed(0))
    return (drawn / drawn.norm(dim=1, keepdim=True)).to(device)
