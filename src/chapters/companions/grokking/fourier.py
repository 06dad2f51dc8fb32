"""Fourier components of the embeddings over the numbers 0 to p - 1, and their geometry (§7.3.2)."""

import torch
from jaxtyping import Complex, Float
from torch import Tensor

FEATURES = ("norm_spread", "cosine_within", "cosine_between", "overlap_within", "overlap_between")


def components(embeddings: Float[Tensor, "*times p hidden"]) -> Complex[Tensor, "*times k hidden"]:
    """F_k = (1/p) sum_j exp(-2 pi i j k / p) E_j for k = 1 to (p - 1)/2 (§7.3.2)."""
    modulus = embeddings.shape[-2]
    return torch.fft.fft(embeddings, dim=-2)[..., 1 : (modulus + 1) // 2, :] / modulus


def features(embeddings: Float[Tensor, "*times p hidden"]) -> dict[str, Float[Tensor, "*times"]]:
    """How alike and how orthogonal the axes Re F_1, Im F_1, Re F_2, ... of the circles are.

    The spread of their norms is 0 for equal circles. Cosines are means of their sizes, within a
    frequency and between frequencies. The overlap is the cosine of the absolute values: 1 where two
    axes use the same hidden units.
    """
    both = torch.view_as_real(components(embeddings))
    axes = both.transpose(-1, -2).flatten(-3, -2)
    norms = axes.norm(dim=-1)
    values = [norms.std(dim=-1) / norms.mean(dim=-1)]
    frequency = torch.arange(axes.shape[-2]) // 2
    different = frequency[:, None] != frequency[None, :]
    for rows in (axes, axes.abs()):
        unit = rows / rows.norm(dim=-1, keepdim=True)
        table = (unit @ unit.mT).abs()
        values.append(table.diagonal(1, -2, -1)[..., ::2].mean(dim=-1))
        values.append(table[..., different].mean(dim=-1))
    return dict(zip(FEATURES, values, strict=True))
