"""Attention that the model of Figure 2 pays, from its three matrices alone."""

from typing import NamedTuple

import torch

from emergence.models import Mask, allowed_positions, attention
from emergence.tasks import TokenBatch

from .products import Products, described


class Attended(NamedTuple):
    """Mean shares of attention, each in [0, 1]."""

    previous: float  # in layer 1, of a label of the context to the item before it
    label: float  # in layer 2, of the query to the label asked for


def attended(description: Products, batch: TokenBatch, mask: Mask) -> Attended:
    """How far the two layers attend to what the induction head should (§2.3).

    Raises ValueError for an unknown mask.
    """
    stream, (layer1, layer2, _) = described(description, batch)
    length = stream.shape[1]
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
