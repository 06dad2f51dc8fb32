"""How far so many layers come with symbols to spare; a study.

A network of t layers is trained on a mixture of questions about chains of D facts.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from chapters.companions.retrieval import heads, training
from chapters.companions.retrieval.model import forward
from running.records import StoredRuns

from .phases import CHAINS, Cell, mixed

CPU = torch.device("cpu")
SPARE = 17


@dataclass(frozen=True)
class Depth:
    """A cell, and what is measured besides accuracy.

    Attributes:
        cell: the training; `until` above 1 takes all its steps.
        causal: whether each record takes every look of each layer away in turn.
        exam_size: contexts a number of hops at the end.
    """

    cell: Cell
    causal: bool = False
    exam_size: int = 100


class Reached(NamedTuple):
    """Right answers over training, and at its end.

    Attributes:
        right: on the fixed contexts of training; `cut`: the same without each look, or no looks.
        whole: on the contexts of the exam.
    """

    depth: Depth
    moments: Int[np.ndarray, " times"]
    right: Int[np.ndarray, "runs times n_hops"]
    cut: Int[np.ndarray, "runs times looks n_hops"]
    whole: Int[np.ndarray, "runs n_hops"]

    @property
    def accuracy(self) -> Float[np.ndarray, "runs times n_hops"]:
        """Share of right answers over training."""
        return self.right / (CHAINS * self.depth.cell.test_size)

    @property
    def without_looks(self) -> Float[np.ndarray, "runs times looks n_hops"]:
        """The same with each look taken away."""
        return self.cut / (CHAINS * self.depth.cell.test_size)

    @property
    def final(self) -> Float[np.ndarray, "runs n_hops"]:
        """Share of right answers in the exam."""
        return self.whole / (CHAINS * self.depth.exam_size)


def measure(depth: Depth) -> Reached:
    """Train the networks of a cell and examine them."""
    cell = depth.cell
    seeds = range(cell.first_seed, cell.first_seed + cell.n_seeds)
    settings = replace(cell.training(), causal=depth.causal)
    record = training.train(settings, seeds, device=CPU, label=f"{cell.n_layers}, {cell.n_hops}")
    exam = training.contexts(settings, seeds, depth.exam_size, device=CPU)
    with torch.no_grad():
        shares = [
            heads.accuracy(forward(record.parameters, contexts, cell.n_heads), contexts)
            for contexts in exam
        ]

    def counts(shares: Tensor, size: int) -> Int[np.ndarray, "runs *any n_hops"]:
        return (shares.numpy() * (CHAINS * size)).round().astype(int)

    right, cut = (counts(part, cell.test_size) for part in (record.accuracy, record.cut))
    whole = counts(torch.stack(shares, dim=1), depth.exam_size)
    return Reached(depth, record.moments.numpy(), right, cut, whole)


def depth(n_layers: int, n_hops: int, limit: int, **more: Any) -> Depth:
    """A mixture of one to D hops, with symbols to spare."""
    return Depth(mixed(n_layers, n_hops, limit, n_hops=n_hops, **{"spare": SPARE, **more}))


FULL, *ROOMIER = (depth(2, 4, 4000, n_seeds=3, spare=spare) for spare in (0, 1, 4))
LONGER = depth(2, 4, 12_000, n_seeds=3)
_SIZES = ((1, 1, 2000), (1, 2, 2000), (2, 3, 2000), (2, 4, 4000), (2, 5, 2000), (3, 8, 8000))
FRONTIER = (*(depth(*sizes, n_seeds=3) for sizes in _SIZES), depth(3, 13, 20_000, n_seeds=1))
ORDERED = tuple(  # three layers on chains of four, with each look taken away at every record
    Depth(mixed(3, 4, 750, spare=spare, n_seeds=3, until=2.0), causal=True) for spare in (SPARE, 1)
)
DEPTHS: tuple[Depth, ...] = (*ORDERED, FULL, *ROOMIER, LONGER, *FRONTIER)


def run(depth: Depth) -> dict[str, Any]:
    """What is stored of a cell."""
    reached = measure(depth)
    return {name: getattr(reached, name).tolist() for name in Reached._fields[1:]}


RUNS = StoredRuns(run, DEPTHS)
