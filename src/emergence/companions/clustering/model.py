"""The network of the source: two-dimensional embeddings, constant attention, one hidden layer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from emergence.running.progress import steps as counted

from .markers import markers, places
from .scores import Scores, scores


@dataclass(frozen=True)
class Training:
    """Full-batch AdamW on all pairs but those held out.

    N = 17 residues and 64 hidden units are the source's. The rest is ours: PyTorch's uniform
    weights, biases from zero, and small embeddings, so that what is seen at the end has formed
    in training. Weight decay acts on all parameters unless `embedding_decay` says another.
    """

    residues: int = 17
    hidden: int = 64
    held_out: float = 0.2
    epochs: int = 2000
    learning_rate: float = 0.01
    weight_decay: float = 1.0
    embedding_decay: float | None = None
    embedding_scale: float = 0.3
    hidden_bias: bool = True  # without, the biases of the hidden layer stay zero
    records: int = 20
    snapshots: tuple[int, ...] = ()


class Network(NamedTuple):
    """The parameters, a run a row; logits are relu(s W_1 + b_1) W_2 + b_2 of s_ab = E_a + E_b."""

    embeddings: Float[Tensor, "runs n 2"]
    first: Float[Tensor, "runs 2 hidden"]
    first_bias: Float[Tensor, "runs 1 hidden"]
    second: Float[Tensor, "runs hidden n"]
    second_bias: Float[Tensor, "runs 1 n"]


class Record(NamedTuple):
    """What training left behind; a snapshot is the network after so many epochs."""

    epochs: Int[Tensor, " times"]
    loss: Float[Tensor, "times runs"]  # of the trained pairs
    accuracy: Float[Tensor, "times runs"]  # of the held-out pairs
    scores: Scores  # times runs
    trained: Bool[Tensor, "runs markers"]
    snapshots: dict[int, Network]
    final: Network


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


def train(
    settings: Training, seeds: Sequence[int], *, device: torch.device, label: str = "network"
) -> Record:
    """Train a network a seed, all at once; ArithmeticError when a run diverges."""
    network, trained = start(settings, seeds)
    network = Network(*(part.to(device).requires_grad_() for part in network))
    weights = (trained / trained.sum(dim=-1, keepdim=True)).to(device)
    decay = settings.weight_decay
    of_embeddings = decay if settings.embedding_decay is None else settings.embedding_decay
    network.first_bias.requires_grad_(settings.hidden_bias)
    optimiser = torch.optim.AdamW(
        [
            {"params": [network.embeddings], "weight_decay": of_embeddings},
            {"params": [p for p in network[1:] if p.requires_grad], "weight_decay": decay},
        ],
        lr=settings.learning_rate,
        fused=True,
    )
    every = max(1, settings.epochs // settings.records)
    rows, kept = [], {}
    for epoch in counted(label, settings.epochs):
        if epoch in settings.snapshots:
            kept[epoch] = _copy(network)
        if epoch % every == 0:
            rows.append((epoch, *_measure(network, trained.to(device))))
        optimiser.zero_grad()
        (losses(network) * weights).sum().backward()
        optimiser.step()
    rows.append((settings.epochs, *_measure(network, trained.to(device))))
    epochs, loss, accuracy, *shapes = zip(*rows, strict=True)
    if not torch.stack(loss).isfinite().all():
        raise ArithmeticError(f"{label}: the loss is not finite")
    return Record(
        torch.tensor(epochs),
        torch.stack(loss),
        torch.stack(accuracy),
        Scores(*(torch.stack(column) for column in shapes)),
        trained,
        kept,
        _copy(network),
    )


def _copy(network: Network) -> Network:
    return Network(*(part.detach().clone().cpu() for part in network))


@torch.no_grad()
def _measure(network: Network, trained: Bool[Tensor, "runs markers"]) -> tuple[Tensor, ...]:
    """Loss of the trained pairs, accuracy on the held-out ones, both scores and the base rate."""
    total = markers(network.embeddings.shape[-2]).total.to(trained.device)
    right = logits(network).argmax(dim=-1) == total
    loss = (losses(network) * trained).sum(dim=-1) / trained.sum(dim=-1)
    accuracy = (right & ~trained).sum(dim=-1) / (~trained).sum(dim=-1)
    return tuple(part.cpu() for part in (loss, accuracy, *scores(network.embeddings)))
