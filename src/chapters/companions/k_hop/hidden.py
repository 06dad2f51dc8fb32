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
from chapters.companions.retrieval.training import losses
from emergence.analysis import first_reached
from running import loop
from running.cache import Task
from running.devices import generator
from running.records import StoredRuns

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
    def record(step: int) -> tuple[int, Tensor, Tensor]:
        """A step, right answers to k hops, and the fewest to any number of hops."""
        answers = (model.forward(parameters, test, N_HEADS).logits.argmax(dim=-1) for test in tests)
        right = [
            (answer == test.target).sum(dim=(1, 2))
            for answer, test in zip(answers, tests, strict=True)
        ]
        return step, right[-1], torch.stack(right).amin(dim=0)

    label = f"N = {cell.n}, hops {cell.asked}"
    enough = cell.until * cell.n * cell.test_size
    optimiser = torch.optim.Adam(parameters.tensors(), fused=True)
    rows = [record(0)]
    for step in loop.steps(
        Task.of(measure, cell=cell),
        cell.limit,
        label,
        ended=lambda: bool((rows[-1][2] >= enough).all()),
        parameters=tuple(parameters.tensors()),
        optimiser=optimiser,
        streams=tuple(streams),
        rows=rows,
    ):
        for group in optimiser.param_groups:
            group["lr"] = cell.learning_rate * min(1.0, (step + 1) / cell.warm_up)
        loss = losses(parameters, contexts(cell.asked, cell.batch_size, streams), N_HEADS)
        optimiser.zero_grad()
        loss.sum().backward()
        optimiser.step()
        loop.check_finite(loss.detach(), label, step)
        if (step + 1) % cell.record_every == 0 or step + 1 == cell.limit:
            rows.append(record(step + 1))
    moments, right, _ = zip(*rows, strict=True)
    return Found(cell, np.array(moments), torch.stack(right, dim=1).numpy())


ALONE = *(Hidden(n, (k,)) for n in (3, 4) for k in (1, 2, 3)), Hidden(3, (4,))
MIXED = Hidden(3, (1, 2, 3)), Hidden(4, (1, 2, 3)), Hidden(3, (1, 2, 3, 4))


def run(cell: Hidden) -> dict[str, Any]:
    """What is stored of a cell: right answers to k hops, by run and time."""
    record = measure(cell)
    return {"moments": record.moments.tolist(), "right": record.right.tolist()}


RUNS = StoredRuns(run, (*ALONE, *MIXED))
