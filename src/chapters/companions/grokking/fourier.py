"""Fourier components of the embeddings over the numbers 0 to p - 1, and their geometry (§7.3.2)."""

import torch
from jaxtyping import Complex, Float
from torch import Tensor


def components(embeddings: Float[Tensor, "*times p hidden"]) -> Complex[Tensor, "*times k hidden"]:
    """F_k = (1/p) sum_j exp(-2 pi i j k / p) E_j for k = 1 to (p - 1)/2 (§7.3.2)."""
    modulus = embeddings.shape[-2]
    return torch.fft.fft(embeddings, dim=-2)[..., 1 : (modulus + 1) // 2, :] / modulus


def vectors(embeddings: Float[Tensor, "*times p hidden"]) -> Float[Tensor, "*times m hidden"]:
    """Re F_1, Im F_1, Re F_2, Im F_2, ...: two axes of a circle for each frequency."""
    both = torch.view_as_real(components(embeddings))
    return both.transpose(-1, -2).flatten(-3, -2)


def norm_spread(embeddings: Float[Tensor, "*times p hidden"]) -> Float[Tensor, "*times"]:
    """Standard deviation over mean of the norms of all vectors: 0 for equal circles."""
    norms = vectors(embeddings).norm(dim=-1)
    return norms.std(dim=-1) / norms.mean(dim=-1)


def cosines(embeddings: Float[Tensor, "*times p hidden"]) -> Float[Tensor, "*times m m"]:
    """The cosines among all vectors."""
    return _cosines(vectors(embeddings))


def overlaps(embeddings: Float[Tensor, "*times p hidden"]) -> Float[Tensor, "*times m m"]:
    """The cosines among the absolute values: 1 where two vectors use the same hidden units."""
    return _cosines(vectors(embeddings).abs())


def within(table: Float[Tensor, "*times m m"]) -> Float[Tensor, "*times"]:
    """The mean size of the entries between the real and imaginary part of one frequency."""
    return table.diagonal(1, -2, -1)[..., ::2].abs().mean(dim=-1)


def between(table: Float[Tensor, "*times m m"]) -> Float[Tensor, "*times"]:
    """The mean size of the entries between different frequencies."""
    frequency = torch.arange(table.shape[-1]) // 2
    different = frequency[:, None] != frequency[None, :]
    return table[..., different].abs().mean(dim=-1)


def _cosines(rows: Float[Tensor, "*times m hidden"]) -> Float[Tensor, "*times m m"]:
    unit = rows / rows.norm(dim=-1, keepdim=True)
    return unit @ unit.mT
