"""The measures of an induction head by its effect: scores, losses and ablation."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from .network import CorpusTransformer

Windows = Int[Tensor, "windows length"]


class Effects(NamedTuple):
    """Measures of an induction head.

    Attributes:
        prefix: attention of layer 2, on repeated sequences, to the token after the earlier copy, by
            the head that attends to it most.
        previous: attention of layer 1 there to the previous token, likewise.
        copying: share of tokens whose own logit their value in layer 2 raises most.
        first: loss in nats on the first half of repeated sequences.
        second: loss in nats on the second half.
        repeated: loss on held-out text where the same bigram occurred before in the window.
        other: loss elsewhere.
        ablated_repeated: the first of these without layer 2.
        ablated_other: the second without layer 2.
    """

    prefix: float
    previous: float
    copying: float
    first: float
    second: float
    repeated: float
    other: float
    ablated_repeated: float
    ablated_other: float


def repeated_halves(
    tokens: Int[Tensor, " tokens"], sequences: int, context: int, *, generator: torch.Generator
) -> Int[Tensor, "sequences context"]:
    """Sequences of tokens drawn one by one from a text, whose second half repeats the first."""
    chosen = torch.randint(len(tokens), (sequences, context // 2), generator=generator)
    return tokens[chosen].repeat(1, 2)


def returns(windows: Windows) -> Bool[Tensor, "windows answers"]:
    """Where a token and the next one have occurred side by side before in the window."""
    now, following = windows[:, :-1], windows[:, 1:]
    same = (now[:, :, None] == now[:, None]) & (following[:, :, None] == following[:, None])
    return same.tril(-1).any(dim=-1)


@torch.no_grad()
def effects(
    model: CorpusTransformer, halves: Int[Tensor, "sequences context"], held_out: Windows
) -> Effects:
    """Measure a network on repeated sequences and on held-out windows of its text."""
    half = halves.shape[1] // 2
    logits, (first_layer, second_layer) = model.passes(halves)
    rows = torch.arange(half, halves.shape[1])
    losses = _losses(logits[:, :-1], halves[:, 1:])
    again = returns(held_out)
    whole = _losses(model(held_out[:, :-1]), held_out[:, 1:])
    ablated = _losses(model(held_out[:, :-1], without=1), held_out[:, 1:])
    copies = model.copies()
    copies_itself = copies.argmax(dim=0) == torch.arange(copies.shape[1])
    values = (
        second_layer[:, :, rows, rows - half + 1].mean(dim=(0, 2)).max(),
        first_layer[:, :, rows, rows - 1].mean(dim=(0, 2)).max(),
        copies_itself.float().mean(),
        losses[:, : half - 1].mean(), losses[:, half:].mean(),
        whole[again].mean(), whole[~again].mean(),
        ablated[again].mean(), ablated[~again].mean(),
    )  # fmt: skip
    return Effects(*(round(float(value), 4) for value in values))


def _losses(
    logits: Float[Tensor, "batch length vocabulary"], wanted: Int[Tensor, "batch length"]
) -> Float[Tensor, "batch length"]:
    flat = cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none")
    return flat.view(wanted.shape)
