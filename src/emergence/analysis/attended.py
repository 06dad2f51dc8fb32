"""Attention that the model of Figure 2 pays, from its three matrices alone."""

from typing import NamedTuple

import torch
from torch.nn.functional import one_hot

from emergence.models import Mask, allowed_positions, attention
from emergence.tasks import TokenBatch

from .products import Products


class Attended(NamedTuple):
    """Mean shares of attention, each in [0, 1].

    Attributes:
        previous: in layer 1, what a label of the context pays to the item before it.
        label: in layer 2, what the query pays to the label asked for.
    """

    previous: float
    label: float


def attended(description: Products, batch: TokenBatch, mask: Mask) -> Attended:
    """How much attention the two layers pay to where the induction head looks (§2.3).

    Args:
        description: the three matrices.
        batch: sequences of pairs with a query last.
        mask: `causal` or `strict`.

    Raises:
        ValueError: for an unknown mask.
    """
    layer1, layer2, output = (torch.from_numpy(part) for part in description)
    vocabulary, length = len(output), batch.tokens.shape[1]
    tokens = one_hot(batch.tokens, vocabulary)
    positions = one_hot(batch.positions, len(layer1) - vocabulary)
    stream = torch.cat([tokens, positions], dim=-1).to(output.dtype)
    allowed = allowed_positions(length, mask, stream.device)
    first = attention(stream @ layer1 @ stream.mT, allowed)
    stream = torch.cat([stream, first @ stream], dim=-1)
    second = attention(stream @ layer2 @ stream.mT, allowed)
    labels = torch.arange(1, length, 2)
    asked = (batch.tokens[:, :-1] == batch.tokens[:, -1:]).int().argmax(dim=1) + 1
    return Attended(
        float(first[:, labels, labels - 1].mean()),
        float(second[torch.arange(len(second)), -1, asked].mean()),
    )
