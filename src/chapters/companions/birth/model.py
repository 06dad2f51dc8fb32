"""The simplified transformer (Bietti et al. 2023, §4.2) of one or two layers, as written there.

What is read of trained layers: recall of the three target memories, and attention.

The memories are sums of outer products sum_i u_i e_i^T, and 1/M is the recall by chance. Attention
is that to the previous position and to what followed the trigger.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from emergence.models import allowed_positions, attention

from .task import Batch, BigramTask


class Frozen(NamedTuple):
    """What stays as it was drawn. Embeddings are rows."""

    e: Float[Tensor, "N d"]  # e_z, input
    p: Float[Tensor, "T d"]  # p_t, positional
    u: Float[Tensor, "N d"]  # u_y, output
    ov1: Float[Tensor, "d d"]  # W_OV^1, idle where there is one layer
    v: Float[Tensor, "d d"]  # the value matrix of the last layer


class Trained(NamedTuple):
    """What is trained: a key-query matrix a layer, and the last output matrix."""

    kq: tuple[Float[Tensor, "d d"], ...]  # W_KQ^1, W_KQ^2
    o: Float[Tensor, "d d"]  # W_OV of the last layer is o v


def matrices_of(trained: Trained) -> list[Float[Tensor, "d d"]]:
    """W_KQ of each layer, then o."""
    return [*trained.kq, trained.o]


def from_matrices(parts: Sequence[Float[Tensor, "d d"]]) -> Trained:
    """The reverse of `parts`."""
    return Trained(tuple(parts[:-1]), parts[-1])


def linear(rows: int, columns: int, generator: torch.Generator) -> Float[Tensor, "rows columns"]:
    """A matrix of U(-1, 1)/sqrt(columns), PyTorch's default."""
    drawn = torch.rand(rows, columns, generator=generator, device=generator.device)
    return (2 * drawn - 1) * columns**-0.5


def initial(
    n_tokens: int, length: int, dim: int, n_layers: int, *, generator: torch.Generator
) -> tuple[Frozen, Trained]:
    """Embeddings N(0, 1), matrices U(-1/sqrt(d), 1/sqrt(d)): PyTorch's defaults, as in the code.

    ValueError for another number of layers than one or two.
    """
    if n_layers not in (1, 2):
        raise ValueError(f"the model has one or two layers, got {n_layers}")
    square = partial(linear, dim, dim, generator)
    e, p = (
        torch.randn(rows, dim, generator=generator, device=generator.device)
        for rows in (n_tokens, length)
    )
    frozen = Frozen(e, p, linear(n_tokens, dim, generator), square() @ square(), square())
    return frozen, Trained(tuple(square() for _ in range(n_layers)), square())


def forward(
    frozen: Frozen, trained: Trained, tokens: Int[Tensor, "batch T"]
) -> tuple[Float[Tensor, "batch T N"], list[Float[Tensor, "batch T T"]]]:
    """Next-token logits u_j . x_t at every position, and each layer's attention, one row per query.

    Keys and queries meet as x_t . W_KQ x_s.
    """
    allowed = allowed_positions(tokens.shape[1], "causal", tokens.device)
    x, patterns = frozen.e[tokens] + frozen.p[: tokens.shape[1]], []
    for layer, kq in enumerate(trained.kq, start=1):
        patterns.append(attention(x @ kq @ x.mT * x.shape[-1] ** -0.5, allowed))
        ov = trained.o @ frozen.v if layer == len(trained.kq) else frozen.ov1
        x = x + patterns[-1] @ x @ ov.T
    return x @ frozen.u.T, patterns


def logits(
    frozen: Frozen, trained: Trained, tokens: Int[Tensor, "batch T"]
) -> Float[Tensor, "batch T N"]:
    """The logits of `forward`."""
    return forward(frozen, trained, tokens)[0]


def loss_and_accuracy(
    frozen: Frozen, trained: Trained, batch: Batch
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Mean cross-entropy, which is differentiable, and accuracy at the scored positions."""
    out = logits(frozen, trained, batch.tokens)[batch.scored]
    wanted = batch.targets[batch.scored]
    loss = torch.nn.functional.cross_entropy(out, wanted)
    return loss, (out.argmax(dim=1) == wanted).double().mean()


def recall(scores: Float[Tensor, "M M"]) -> float:
    """R: how often the entry on the diagonal is the greatest of its row."""
    wanted = torch.arange(len(scores), device=scores.device)
    return float((scores.argmax(dim=1) == wanted).double().mean())


class Recalls(NamedTuple):
    """R of the three memories of the induction head, each with the number of its entries M."""

    ov2: float  # an attended token is written as an output
    kq2: float  # a trigger attends to what layer 1 wrote of itself
    kq1: float  # a position attends to the previous one
    kq1_early: float  # the same among the first quarter of the positions, the source's 64 of 256


def recalls(frozen: Frozen, trained: Trained, triggers: Int[Tensor, " k"]) -> Recalls:
    """The recalls of a model of two layers."""
    ov2 = frozen.e @ frozen.v.T @ trained.o.T @ frozen.u.T
    kq2 = _match_scores(frozen, trained, triggers)

    def previous(count: int) -> float:
        positions = frozen.p[:count]
        return recall(positions[1:] @ trained.kq[0] @ positions[:-1].T)

    length = len(frozen.p)
    return Recalls(recall(ov2), recall(kq2), previous(length), previous(max(2, length // 4)))


def _match_scores(
    frozen: Frozen, trained: Trained, triggers: Int[Tensor, " k"]
) -> Float[Tensor, "k k"]:
    """What a trigger asks of what layer 1 wrote of each."""
    asking = frozen.e[triggers]
    return asking @ trained.kq[1] @ (asking @ frozen.ov1.T).T


def matched(
    frozen: Frozen, trained: Trained, triggers: Int[Tensor, " k"], weights: Float[Tensor, " k"]
) -> float:
    """The recall of W_KQ^2 where triggers do not count alike, but by their weights."""
    scores = _match_scores(frozen, trained, triggers)
    hits = scores.argmax(dim=1) == torch.arange(len(scores), device=scores.device)
    return float((hits * weights).sum() / weights.sum())


def memory_sizes(n_tokens: int, n_triggers: int, length: int) -> tuple[int, int, int, int]:
    """M, the number of entries of each memory of `Recalls`; 1/M is the recall by chance."""
    return n_tokens, n_triggers, length - 1, max(2, length // 4) - 1


def learned(curve: Float[np.ndarray, "*any"], count: int) -> Float[np.ndarray, "*any"]:
    """The share of a memory of M entries beyond what chance recalls: 0 at 1/M, 1 at 1."""
    return (curve - 1 / count) / (1 - 1 / count)


class Focus(NamedTuple):
    """Attention of the two layers where the circuit needs it; means over positions.

    The source's code logs the two of argmax type, `previous_top` and `match_top`.
    """

    previous: float  # layer 1, one position after a scored trigger: share on the trigger
    previous_top: float  # how often the trigger has the greatest share
    match: float  # layer 2, at a scored trigger: share on what followed it earlier
    match_top: float  # how often one of these positions has the greatest share


def followers(tokens: Int[Tensor, "batch T"]) -> Bool[Tensor, "batch T T"]:
    """For each position, those up to it that an earlier occurrence of its token precedes."""
    before = torch.nn.functional.pad(tokens[:, :-1], (1, 0), value=-1)
    return (tokens[:, :, None] == before[:, None, :]).tril()


def focus(
    frozen: Frozen,
    trained: Trained,
    tokens: Int[Tensor, "batch T"],
    scored: Bool[Tensor, "batch T"],
) -> Focus:
    """How much attention of two layers is where the circuit needs it; NaN if nothing is scored."""
    first, second = forward(frozen, trained, tokens)[1]
    wanted = followers(tokens)
    before, triggers = first[:, 1:], scored[:, :-1]
    top = before.argmax(dim=2) == torch.arange(scored.shape[1] - 1, device=scored.device)
    greatest = wanted.gather(2, second.argmax(dim=2, keepdim=True)).squeeze(2)
    return Focus(
        float(before.diagonal(dim1=1, dim2=2)[triggers].mean()),
        float(top[triggers].double().mean()),
        float((second * wanted).sum(dim=2)[scored].mean()),
        float(greatest[scored].double().mean()),
    )


@dataclass(frozen=True, eq=False)
class RecallsAndFocus:
    """A reader for `training.train`: `Recalls`, `Focus` on some sequences, and a ninth.

    The last is the recall of W_KQ^2 weighted by the frequency of tokens.
    """

    tokens: Int[Tensor, "batch T"]
    scored: Bool[Tensor, "batch T"]
    frequency: Float[Tensor, " k"]  # of the triggers, in single precision like the weights

    @classmethod
    def of(cls, task: BigramTask, batch: Batch) -> "RecallsAndFocus":
        """The reader of these sequences."""
        return cls(batch.tokens, batch.scored, task.frequency[task.triggers].float())

    @torch.no_grad()
    def __call__(
        self, frozen: Frozen, trained: Trained, triggers: Int[Tensor, " k"]
    ) -> tuple[float, ...]:
        """What is read at one step."""
        looks = focus(frozen, trained, self.tokens, self.scored)
        weighted = matched(frozen, trained, triggers, self.frequency)
        return (*recalls(frozen, trained, triggers), *looks, weighted)
