"""A transformer of two layers with feed-forward parts, the last of which can be truncated."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from emergence.companions.birth.model import Frozen, Trained, initial
from emergence.models import allowed_positions, attention


class FeedForward(NamedTuple):
    """x + w_out relu(w_in x)."""

    w_in: Float[Tensor, "m d"]
    w_out: Float[Tensor, "d m"]

    def __call__(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        """The stream after this layer."""
        return x + (x @ self.w_in.T).relu() @ self.w_out.T


class Model(NamedTuple):
    """The transformer of `birth` and its two feed-forward layers; all but `frozen` is trained."""

    frozen: Frozen
    heads: Trained
    first: FeedForward
    last: FeedForward

    @property
    def trained(self) -> list[Tensor]:
        """The matrices that training moves."""
        return [*self.heads.kq, self.heads.o, *self.first, *self.last]


def draw(n_tokens: int, length: int, dim: int, width: int, *, generator: torch.Generator) -> Model:
    """`birth`'s initial model, feed-forward matrices drawn by the same rule."""
    frozen, heads = initial(n_tokens, length, dim, 2, generator=generator)

    def linear(rows: int, columns: int) -> Tensor:
        unit = torch.rand(rows, columns, generator=generator, device=generator.device)
        return (2 * unit - 1) * columns**-0.5

    first, last = (FeedForward(linear(width, dim), linear(dim, width)) for _ in range(2))
    return Model(frozen, heads, first, last)


def before_last(
    model: Model, tokens: Int[Tensor, "batch T"], at: Int[Tensor, "batch R"]
) -> Float[Tensor, "batch R d"]:
    """The stream at some positions of each sequence, as the last feed-forward layer finds it."""
    frozen, heads = model.frozen, model.heads
    allowed = allowed_positions(tokens.shape[1], "causal", tokens.device)
    scale = frozen.e.shape[1] ** -0.5
    x = frozen.e[tokens] + frozen.p[: tokens.shape[1]]
    pattern = attention(x @ heads.kq[0] @ x.mT * scale, allowed)
    x = model.first(x + pattern @ x @ frozen.ov1.T)
    asking = x.gather(1, at[..., None].expand(-1, -1, x.shape[2]))
    scores = asking @ heads.kq[1] @ x.mT * scale
    pattern = scores.masked_fill(~allowed[at], -torch.inf).softmax(dim=-1)
    return asking + pattern @ x @ (heads.o @ frozen.v).T


def logits(
    model: Model, tokens: Int[Tensor, "batch T"], at: Int[Tensor, "batch R"]
) -> Float[Tensor, "batch R N"]:
    """Next-token logits at some positions of each sequence."""
    return model.last(before_last(model, tokens, at)) @ model.frozen.u.T


def part(w: Float[Tensor, "r c"], which: slice) -> Float[Tensor, "r c"]:
    """What of a matrix lies in some of its singular values; the greatest come first."""
    left, values, right = torch.linalg.svd(w, full_matrices=False)
    return (left[:, which] * values[which]) @ right[which]


def kept(w: Float[Tensor, "r c"], share: float) -> Float[Tensor, "r c"]:
    """The nearest matrix with a share of the singular values, the greatest ones (rounded)."""
    return part(w, slice(round(share * min(w.shape))))


def truncated(layer: FeedForward, share: float) -> FeedForward:
    """Both matrices of a layer truncated; a share of 0 removes it."""
    return FeedForward(*(kept(w, share) for w in layer))
