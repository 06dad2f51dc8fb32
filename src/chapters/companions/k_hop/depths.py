"""How far so many layers come with symbols to spare, and what their heads are needed for.

A network of t layers is trained on a mixture of questions about chains of D facts. At the end the
attention of single heads of the lower layers is made uniform, in the rows of facts.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int

from chapters.companions.retrieval import heads, training
from chapters.companions.retrieval.model import Cut, forward
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
        exam_size: contexts a number of hops on which heads are ablated at the end.
    """

    cell: Cell
    causal: bool = False
    exam_size: int = 100


class Reached(NamedTuple):
    """Right answers over training, and at its end with heads ablated.

    Attributes:
        right: on the fixed contexts of training; `cut`: the same without each look, or no looks.
        whole: on the contexts of the exam; `headless`: without each head of the lower layers.
        sides: a head's mean attention to the next fact towards the end of the chain, and away.
    """

    depth: Depth
    moments: Int[np.ndarray, " times"]
    right: Int[np.ndarray, "runs times n_hops"]
    cut: Int[np.ndarray, "runs times looks n_hops"]
    whole: Int[np.ndarray, "runs n_hops"]
    headless: Int[np.ndarray, "runs layers heads n_hops"]
    sides: Float[np.ndarray, "runs layers heads 2"]

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

    @property
    def lost(self) -> Float[np.ndarray, "runs layers heads n_hops"]:
        """What is lost of it without each head."""
        return self.final[:, None, None] - self.headless / (CHAINS * self.depth.exam_size)

    def lost_without(self, side: int) -> Float[np.ndarray, "runs n_hops"]:
        """What is lost without the head of layer 1 that attends most to the end (0) or away (1)."""
        head = self.sides[:, 0, :, side].argmax(axis=1)
        return self.lost[np.arange(len(head)), 0, head]


def measure(depth: Depth) -> Reached:
    """Train the networks of a cell and ablate their heads."""
    cell = depth.cell
    seeds = range(cell.first_seed, cell.first_seed + cell.n_seeds)
    settings = replace(cell.training(), causal=depth.causal)
    record = training.train(settings, seeds, device=CPU, label=f"{cell.n_layers}, {cell.n_hops}")
    exam = training.contexts(settings, seeds, depth.exam_size, device=CPU)
    shape = cell.n_seeds, cell.n_layers - 1, cell.n_heads
    headless = np.zeros((*shape, cell.n_hops), dtype=int)
    questions = CHAINS * depth.exam_size

    def right(hops: int, cut: Cut | None = None) -> Int[np.ndarray, " runs"]:
        with torch.no_grad():
            answer = forward(record.parameters, exam[hops], cell.n_heads, cut)
        return (heads.accuracy(answer, exam[hops]).numpy() * questions).round().astype(int)

    for layer in range(1, cell.n_layers):
        for head in range(cell.n_heads):
            for hops in range(cell.n_hops):
                ablated = Cut(layer, "facts", head)
                headless[:, layer - 1, head, hops] = right(hops, ablated)
    facts = record.maps[:, -1, :-1, :, :-1].numpy()  # of the lower layers, without queries
    sides = heads.masses(facts, (1, -1)) if cell.n_hops > 1 else np.zeros((*shape, 2))
    whole = np.stack([right(hops) for hops in range(cell.n_hops)], axis=1)
    tests = CHAINS * cell.test_size
    over_time, cut = (
        (each.numpy() * tests).round().astype(int) for each in (record.accuracy, record.cut)
    )
    return Reached(depth, record.moments.numpy(), over_time, cut, whole, headless, sides)


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
    counts = {name: getattr(reached, name).tolist() for name in Reached._fields[1:-1]}
    return counts | {"sides": reached.sides.round(4).tolist()}


RUNS = StoredRuns(run, DEPTHS)
