"""The network of the source: two-dimensional embeddings, constant attention, one hidden layer."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

from .markers import markers, places
from .settings import Training


class Network(NamedTuple):
    """The parameters, a run a row; logits are relu(s W_1 + b_1) W_2 + b_2 of s_ab = E_a + E_b."""

    embeddings: Float[Tensor, "runs n 2"]
    first: Float[Tensor, "runs 2 hidden"]
    first_bias: Float[Tensor, "runs 1 hidden"]
    second: Float[Tensor, "runs hidden n"]
    second_bias: Float[Tensor, "runs 1 n"]


def start(settings: Training, seeds: Sequence[int]) -> tuple[Network, Bool[Tensor, "runs markers"]]:
    """A fresh network and the trained pairs, each seed from a generator of its own."""
    n, hidden = settings.residues, settings.hidden
    count = len(markers(n).total)
    rows = []
    for seed in seeds:
        stream = torch.Generator().manual_seed(seed)
        unit = [torch.rand(*s, generator=stream) * 2 - 1 for s in ((2, hidden), (hidden, n))]
        rows.append(
            (
                settings.embedding_scale * torch.randn(n, 2, generator=stream),
                unit[0] / 2**0.5,
                torch.zeros(1, hidden),
                unit[1] / hidden**0.5,
                torch.zeros(1, n),
                torch.randperm(count, generator=stream) >= round(settings.held_out * count),
            )
        )
    *parts, trained = (torch.stack(column) for column in zip(*rows, strict=True))
    return Network(*parts), trained


def marker_logits(
    marks: Float[Tensor, "runs markers 2"], layers: Sequence[Tensor]
) -> Float[Tensor, "runs markers n"]:
    """The logits of the sum at each marker; `layers` are the parameters after the embeddings."""
    first, first_bias, second, second_bias = layers
    return torch.baddbmm(second_bias, torch.baddbmm(first_bias, marks, first).relu(), second)


def logits(network: Network) -> Float[Tensor, "runs markers n"]:
    """The logits of the sum, for each pair of residues."""
    return marker_logits(places(network.embeddings), network[1:])


def marker_losses(
    marks: Float[Tensor, "runs markers 2"], layers: Sequence[Tensor]
) -> Float[Tensor, "runs markers"]:
    """The cross-entropy of each marker."""
    out = marker_logits(marks, layers)
    total = markers(out.shape[-1]).total.to(out.device)
    return functional.cross_entropy(out.mT, total.expand(len(out), -1), reduction="none")


def losses(network: Network) -> Float[Tensor, "runs markers"]:
    """The cross-entropy of each pair of residues."""
    return marker_losses(places(network.embeddings), network[1:])
