"""The simplified transformer (Bietti et al. 2023, §4.2) of one or two layers, as written there.

Its memories are sums of outer products sum_i u_i e_i^T, of which we read recall, 1/M by chance, and
attention: that to the previous position and to what followed the trigger.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

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


def loss_and_accuracy(
    frozen: Frozen, trained: Trained, batch: Batch
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Mean cross-entropy, which is differentiable, and accuracy at the scored positions."""
    out = forward(frozen, trained, batch.tokens)[0][batch.scored]
    wanted = batch.targets[batch.scored]
    loss = torch.nn.functional.cross_entropy(out, wanted)
    return loss, (out.argmax(dim=1) == wanted).double().mean()


def recall(scores: Float[Tensor, "M M"]) -> float:
    """R: how often the entry on the diagonal is the greatest of its row."""
    wanted = torch.arange(len(scores), device=scores.device)
    return float((scores.argmax(dim=1) == wanted).double().mean())


def followers(tokens: Int[Tensor, "batch T"]) -> Bool[Tensor, "batch T T"]:
    """For each position, those up to it that an earlier occurrence of its token precedes."""
    before = torch.nn.functional.pad(tokens[:, :-1], (1, 0), value=-1)
    return (tokens[:, :, None] == before[:, None, :]).tril()


Reading = Any  # a number, or of a stored run a curve


class Readings(NamedTuple):
    """R of the three memories of the induction head, and attention where the head needs it.

    Attention is a mean over positions, NaN if nothing is scored. The source's code logs the two of
    argmax type, `previous_top` and `match_top`.
    """

    ov2: Reading  # an attended token is written as an output
    kq2: Reading  # a trigger attends to what layer 1 wrote of itself
    kq1: Reading  # a position attends to the previous one
    kq1_early: Reading  # the same among the first quarter of the positions, the source's 64 of 256
    previous: Reading  # layer 1, one position after a scored trigger: share on the trigger
    previous_top: Reading  # how often the trigger has the greatest share
    match: Reading  # layer 2, at a scored trigger: share on what followed it earlier
    match_top: Reading  # how often one of these positions has the greatest share
    matched: Reading  # R of W_KQ^2 where triggers do not count alike, but by their frequency


@dataclass(frozen=True, eq=False)
class MemoryReader:
    """A reader for `stored.train` of two layers; attention is read on some sequences."""

    batch: Batch
    frequency: Float[Tensor, " k"]  # of the triggers, in single precision like the weights

    @classmethod
    def of(cls, task: BigramTask, batch: Batch) -> "MemoryReader":
        return cls(batch, task.frequency[task.triggers].float())

    @torch.no_grad()
    def __call__(self, frozen: Frozen, trained: Trained, triggers: Int[Tensor, " k"]) -> Readings:
        """What is read at one step."""
        asking, length = frozen.e[triggers], len(frozen.p)
        match = asking @ trained.kq[1] @ (asking @ frozen.ov1.T).T
        hits = match.argmax(dim=1) == torch.arange(len(match), device=match.device)
        early = frozen.p[: max(2, length // 4)]
        tokens, _, scored = self.batch
        first, second = forward(frozen, trained, tokens)[1]
        wanted, before, triggered = followers(tokens), first[:, 1:], scored[:, :-1]
        top = before.argmax(dim=2) == torch.arange(scored.shape[1] - 1, device=scored.device)
        greatest = wanted.gather(2, second.argmax(dim=2, keepdim=True)).squeeze(2)
        return Readings(
            recall(frozen.e @ frozen.v.T @ trained.o.T @ frozen.u.T),
            recall(match),
            recall(frozen.p[1:] @ trained.kq[0] @ frozen.p[:-1].T),
            recall(early[1:] @ trained.kq[0] @ early[:-1].T),
            float(before.diagonal(dim1=1, dim2=2)[triggered].mean()),
            float(top[triggered].double().mean()),
            float((second * wanted).sum(dim=2)[scored].mean()),
            float(greatest[scored].double().mean()),
            float((hits * self.frequency).sum() / self.frequency.sum()),
        )
