"""A transformer trained on k-hop with hidden permutations, the task of the hardness theorem.

The context gives permutations s_1 .. s_k of N symbols, a token for each fact s_i(a), named by its
address (i, a); permutations p_1 .. p_k are hidden and drawn once for each run. A question names its
symbol x and its hops j, in a token of its own, and the answer is s_j p_j ... s_1 p_1 (x). The
network is that of the retrieval problem.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from chapters.companions.retrieval import model, task
from chapters.companions.retrieval.task import Batch
from emergence.analysis import first_reached
from running.cache import Task
from running.devices import generator
from running.records import StoredRuns

from .learning import Row, learn, mean_losses, stacked

CPU = torch.device("cpu")
N_HEADS = 2


@dataclass(frozen=True)
class Hidden:
    """Sizes are ours: the least at which pilots learned three hops in some hundred steps.

    Attributes:
        n: symbols N; a context has a question about each.
        asked: the numbers of hops that are asked for, equally often; the greatest is k.
        until: the accuracy on all of them at which training ends, in every run.
    """

    n: int
    asked: tuple[int, ...]
    limit: int = 4000
    n_seeds: int = 3
    first_seed: int = 0
    n_layers: int = 3
    dim: int = 64
    batch_size: int = 64
    test_size: int = 64
    learning_rate: float = 2e-3
    warm_up: int = 100
    record_every: int = 25
    until: float = 0.95

    @property
    def k(self) -> int:
        """The hidden permutations."""
        return max(self.asked)


class Found(NamedTuple):
    """Right answers on fixed contexts that ask for k hops, a question a symbol."""

    cell: Hidden
    moments: Int[np.ndarray, " times"]
    right: Int[np.ndarray, "runs times"]

    @property
    def waits(self) -> Float[np.ndarray, " runs"]:
        """The step at which each run is half way from a guess to certainty; infinity if never."""
        accuracy = self.right / (self.cell.n * self.cell.test_size)
        return first_reached(self.moments, accuracy, (1 + 1 / self.cell.n) / 2)


def permutations(shape: tuple[int, ...], stream: torch.Generator) -> Int[Tensor, "*any n"]:
    """Permutations drawn uniformly along the last axis."""
    return torch.rand(shape, generator=stream).argsort(dim=-1)


def drawn(
    secret: Int[Tensor, "k n"], hops: Int[Tensor, "batch n"], stream: torch.Generator
) -> Batch:
    """A context for each row of hops, with a question about each symbol."""
    k, n = secret.shape
    given = permutations((len(hops), k, n), stream)
    value = torch.arange(n).expand(len(hops), n)
    query, target = (hops - 1) * n + value, value
    for i in range(k):
        value = given[:, i].gather(1, secret[i][value])
        target = torch.where(hops == i + 1, value, target)
    address = torch.arange(k * n).expand(len(hops), -1)
    return Batch(address, given.flatten(1), query, target, hops, address[:, :n, None])


def measure(cell: Hidden) -> Found:
    """Train the networks of a cell until all have learned or the limit is reached."""
    seeds = range(cell.first_seed, cell.first_seed + cell.n_seeds)
    streams = [generator(seed, CPU) for seed in seeds]
    network = model.Architecture(cell.n_layers, N_HEADS, cell.dim, cell.dim, cell.k * cell.n)
    parameters = model.initial(network, streams)
    secrets = [permutations((cell.k, cell.n), stream) for stream in streams]

    def contexts(asked: tuple[int, ...], size: int, streams: Sequence[torch.Generator]) -> Batch:
        each = []
        for secret, stream in zip(secrets, streams, strict=True):
            hops = task.draw(asked, size, cell.n, generator=stream)
            each.append(drawn(secret, hops, stream))
        return task.stacked(each)

    never_trained = [generator(2**31 + seed, CPU) for seed in seeds]
    tests = [contexts((j,), cell.test_size, never_trained) for j in cell.asked]

    @torch.no_grad()
    def record(step: int) -> Row:
        right = [
            (model.forward(parameters, test, N_HEADS).logits.argmax(dim=-1) == test.target)
            .sum(dim=(1, 2))
            for test in tests
        ]  # fmt: skip
        return step, right[-1], torch.stack(right).amin(dim=0)

    def losses(_: int) -> Float[Tensor, " runs"]:
        batch = contexts(cell.asked, cell.batch_size, streams)
        return mean_losses(model.forward(parameters, batch, N_HEADS).logits, batch)

    def rate(step: int) -> float:
        return cell.learning_rate * min(1.0, (step + 1) / cell.warm_up)

    moments, right, _ = stacked(
        learn(
            Task.of(measure, cell=cell),
            cell.limit,
            parameters,
            streams,
            losses=losses,
            rate=rate,
            record=record,
            every=cell.record_every,
            ended=lambda row: bool((row[2] >= cell.until * cell.n * cell.test_size).all()),
            label=f"N = {cell.n}, hops {cell.asked}",
        )
    )
    return Found(cell, np.array(moments), right)


ALONE = *(Hidden(n, (k,)) for n in (3, 4) for k in (1, 2, 3)), Hidden(3, (4,))
MIXED = Hidden(3, (1, 2, 3)), Hidden(4, (1, 2, 3)), Hidden(3, (1, 2, 3, 4))


def run(cell: Hidden) -> dict[str, Any]:
    """What is stored of a cell: right answers to k hops, by run and time."""
    record = measure(cell)
    return {"moments": record.moments.tolist(), "right": record.right.tolist()}


RUNS = StoredRuns(run, (*ALONE, *MIXED))
