"""Markers of modular addition in the plane: unordered pairs of residues, each with a sum."""

from functools import cache
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


class Markers(NamedTuple):
    """The n (n + 1) / 2 unordered pairs {a, b} of residues and the class a + b mod n of each."""

    first: Int[Tensor, " markers"]
    second: Int[Tensor, " markers"]
    total: Int[Tensor, " markers"]


@cache
def all_markers(n: int) -> Markers:
    """All pairs of residues mod n, a pair with itself among them; ValueError for n < 2."""
    if n < 2:
        raise ValueError(f"modular addition needs at least two residues, got {n}")
    first, second = torch.triu_indices(n, n)
    return Markers(first, second, (first + second) % n)


@cache
def incidence(n: int, dtype: torch.dtype, device: torch.device) -> Float[Tensor, "markers n"]:
    """The matrix that makes markers of embeddings: s = A E, so that A^T f are forces on E."""
    pairs = all_markers(n)
    matrix = torch.zeros(len(pairs.total), n)
    for member in (pairs.first, pairs.second):
        matrix[torch.arange(len(member)), member] += 1
    return matrix.to(device, dtype)


def places(embeddings: Float[Tensor, "*runs n 2"]) -> Float[Tensor, "*runs markers 2"]:
    """The markers s_ab = E_a + E_b."""
    return incidence(embeddings.shape[-2], embeddings.dtype, embeddings.device) @ embeddings


def same_sum(n: int) -> Bool[Tensor, "markers markers"]:
    """Which two different markers have the same sum."""
    total = all_markers(n).total
    same = total[:, None] == total
    return same & ~torch.eye(len(total), dtype=torch.bool)


def other_sum(n: int) -> Bool[Tensor, "markers markers"]:
    """Which two markers have different sums."""
    total = all_markers(n).total
    return total[:, None] != total


def scale(embeddings: Float[Tensor, "*runs n 2"]) -> Float[Tensor, "*runs 1 1"]:
    """The root mean square distance of the embeddings from their mean."""
    centred = embeddings - embeddings.mean(dim=-2, keepdim=True)
    return centred.square().sum(dim=-1).mean(dim=-1).sqrt()[..., None, None]


def normalise(embeddings: Float[Tensor, "*runs n 2"]) -> Float[Tensor, "*runs n 2"]:
    """The embeddings centred and with unit root mean square."""
    return (embeddings - embeddings.mean(dim=-2, keepdim=True)) / scale(embeddings)


def shape_only(
    vectors: Float[Tensor, "*runs n 2"], embeddings: Float[Tensor, "*runs n 2"]
) -> Float[Tensor, "*runs n 2"]:
    """What is left of vectors at the embeddings without common motion and without growth.

    This is what moves normalised embeddings, and the chain rule through `normalise` but for a
    division by the scale.
    """
    normal = normalise(embeddings)
    growth = (vectors * normal).sum(dim=(-2, -1), keepdim=True) / embeddings.shape[-2]
    left = vectors - growth * normal
    return left - left.mean(dim=-2, keepdim=True)
