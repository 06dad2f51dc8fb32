"""The simplified transformer (Bietti et al. 2023, §4.2) of one or two layers, as it is written."""

from typing import Any, NamedTuple

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


class Measured(NamedTuple):
    """Mean loss and accuracy over scored positions, and the gradient of the loss."""

    loss: float
    accuracy: float
    gradient: Trained


def initial(
    n_tokens: int, length: int, dim: int, n_layers: int, *, generator: torch.Generator
) -> tuple[Frozen, Trained]:
    """Embeddings N(0, 1), matrices U(-1/sqrt(d), 1/sqrt(d)): PyTorch's defaults, as in the code.

    ValueError for another number of layers than one or two.
    """
    if n_layers not in (1, 2):
        raise ValueError(f"the model has one or two layers, got {n_layers}")
    make: dict[str, Any] = {"generator": generator, "device": generator.device}

    def linear(rows: int) -> Tensor:
        return (2 * torch.rand(rows, dim, **make) - 1) * dim**-0.5

    e, p = torch.randn(n_tokens, dim, **make), torch.randn(length, dim, **make)
    frozen = Frozen(e, p, linear(n_tokens), linear(dim) @ linear(dim), linear(dim))
    return frozen, Trained(tuple(linear(dim) for _ in range(n_layers)), linear(dim))


def logits(
    frozen: Frozen, trained: Trained, tokens: Int[Tensor, "batch T"]
) -> Float[Tensor, "batch T N"]:
    """Next-token logits u_j . x_t at every position; keys and queries meet as x_t . W_KQ x_s."""
    allowed = allowed_positions(tokens.shape[1], "causal", tokens.device)
    x = frozen.e[tokens] + frozen.p[: tokens.shape[1]]
    for layer, kq in enumerate(trained.kq, start=1):
        pattern = attention(x @ kq @ x.mT * x.shape[-1] ** -0.5, allowed)
        ov = trained.o @ frozen.v if layer == len(trained.kq) else frozen.ov1
        x = x + pattern @ x @ ov.T
    return x @ frozen.u.T


def loss_and_gradient(frozen: Frozen, trained: Trained, batch: Batch) -> Measured:
    """Cross-entropy at scored positions and its gradient, through every token."""
    free = [part.detach().requires_grad_() for part in (*trained.kq, trained.o)]
    out = logits(frozen, Trained(tuple(free[:-1]), free[-1]), batch.tokens)[batch.scored]
    wanted = batch.targets[batch.scored]
    loss = torch.nn.functional.cross_entropy(out, wanted)
    pulls = torch.autograd.grad(loss, free)
    accuracy = float((out.argmax(dim=1) == wanted).double().mean())
    return Measured(loss.item(), accuracy, Trained(pulls[:-1], pulls[-1]))
