"""The simplified transformer (Bietti et al. 2023, §4.2) of one or two layers, as written there."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from emergence.models import allowed_positions, attention

from .task import Batch


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
