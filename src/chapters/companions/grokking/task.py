"""The task of §7.1: all unordered pairs of numbers with their sum modulo p."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot


class Samples(NamedTuple):
    """Inputs e_a + e_b and targets e_c with c = a + b mod p, a row a pair (§7.1)."""

    inputs: Float[Tensor, "*runs n p"]
    targets: Float[Tensor, "*runs n p"]


class Split(NamedTuple):
    """Pairs to train on and pairs held out."""

    train: Samples
    test: Samples


def unordered_pairs(modulus: int) -> Int[Tensor, "2 pairs"]:
    """All a <= b < p, of which there are p(p + 1)/2 (§7.1)."""
    return torch.triu_indices(modulus, modulus)


def samples(pairs: Int[Tensor, "2 n"], modulus: int) -> Samples:
    """The rows of X and Y for these pairs (§7.1)."""
    first, second = pairs
    inputs = one_hot(first, modulus) + one_hot(second, modulus)
    return Samples(inputs.double(), one_hot((first + second) % modulus, modulus).double())


def split(modulus: int, n_train: int, *, generator: torch.Generator) -> Split:
    """A random split; ValueError unless both parts have a pair."""
    pairs = unordered_pairs(modulus)
    count = pairs.shape[1]
    if not 0 < n_train < count:
        raise ValueError(f"n_train must be from 1 to {count - 1}, got {n_train}")
    order = torch.randperm(count, generator=generator, device=generator.device).cpu()
    return Split(*(samples(pairs[:, part], modulus) for part in order.tensor_split([n_train])))


def stacked(splits: Sequence[Split]) -> Split:
    """One split a run, with a leading axis for the runs."""
    parts = zip(*splits, strict=True)
    return Split(*(Samples(*map(torch.stack, zip(*part, strict=True))) for part in parts))
