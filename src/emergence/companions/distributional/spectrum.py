"""Answers by singular values of the last layer: which of them hold the noise."""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from .model import FeedForward, Model, part
from .training import Tested, answered

Which = Literal["both", "in", "out"]


class Answers(NamedTuple):
    """p(noise | trigger) and clean accuracy, by how many of the greatest singular values."""

    noise: list[float]
    clean: list[float]


def parted(layer: FeedForward, span: slice, which: Which = "both") -> FeedForward:
    """The layer with some singular values of one of its matrices, or of both, set to zero.

    `span` remains; the greatest come first.
    """
    return FeedForward(
        part(layer.w_in, span) if which != "out" else layer.w_in,
        part(layer.w_out, span) if which != "in" else layer.w_out,
    )


def by_count(
    model: Model,
    counts: tuple[int, ...],
    tested: list[Tested],
    *,
    drop: bool,
    which: Which = "both",
) -> Answers:
    """Answers with the `count` greatest values alone, or with all but these."""
    spans = [slice(count, None) if drop else slice(count) for count in counts]
    layers = [parted(model.last, span, which) for span in spans]
    pairs = [answered(layer, model.frozen.u, *tested) for layer in layers]
    return Answers(*map(list, zip(*pairs, strict=True)))


def leading(w: Float[Tensor, "d m"], direction: Float[Tensor, " d"]) -> tuple[float, float]:
    """The greatest singular value over the second, and its left vector's cosine to a direction."""
    left, values, _ = torch.linalg.svd(w, full_matrices=False)
    cosine = torch.nn.functional.cosine_similarity(left[:, 0], direction, dim=0)
    return float(values[0] / values[1]), float(cosine.abs())
