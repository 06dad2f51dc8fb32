"""A trial: one set of facts, one shape, the source's training at several rates side by side.

Settings are those of the source's sweeps. All rates see the same facts, initial values and
batches, as there; they end together when one of them recalls enough.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from chapters.companions.associative_memories.training import Scored, scored
from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.graphs import Schedule
from emergence.running.memo import resumable

from . import task
from .model import Frozen, Parameters, Shape, initial, written_at_end
from .task import Facts

MEMORY = 0.9, 0.999  # of Adam, as in the source
SMALL = 1e-8


@dataclass(frozen=True)
class Trial:
    """S + R = `size` with S = R or S = R + 1, and as many noise tokens; D `answers`, T `length`."""

    shape: Shape
    size: int
    rates: tuple[float, ...] = (0.01, 0.003, 0.001)
    seed: int = 0
    answers: int = 8
    length: int = 32
    batch_size: int = 1024
    steps: int = 16384
    every: int = 128  # steps between two tests
    test_size: int = 1024  # sequences, drawn once
    level: float = 0.99  # share of right answers at which the facts count as stored
    hopeless: float = 0.9  # ours: given up where no rate has that half way

    @property
    def facts(self) -> Facts:
        """Subjects, relations and noise; the source has S = R."""
        n = self.size
        return Facts((n + 1) // 2, n // 2, self.answers, n, self.length)


class TrialResult(NamedTuple):
    """The most right answers of each rate, up to half of the steps and in all; the steps taken."""

    half: tuple[int, ...]
    right: tuple[int, ...]
    steps: int

    def recall(self, trial: Trial) -> float:
        """The share of right answers of the best rate."""
        return max(self.right) / trial.test_size


@resumable
def train_until(trial: Trial, device: torch.device) -> TrialResult:
    """Train until a rate recalls enough, or to the last step; ArithmeticError if one diverges.

    A run that ends in the first half of the steps reports its last count as that of half way.
    """
    stream = generator(trial.seed, device)
    facts, runs = trial.facts, len(trial.rates)
    answers = task.random_answers(facts, stream)
    frozen, start = initial(trial.shape, facts, [stream])
    frozen = Frozen(*(part.expand(runs, -1, -1) for part in frozen))
    weights = torch.cat([part.flatten(1) for part in start], dim=1).repeat(runs, 1)
    moments = torch.zeros_like(weights), torch.zeros_like(weights)
    rates = torch.tensor(trial.rates, dtype=weights.dtype, device=device)[:, None]
    test = task.questions(facts, answers, trial.test_size, stream)
    best = torch.zeros(2, runs, dtype=torch.long, device=device)  # half way, and so far
    label = f"{facts.subjects * facts.relations} facts, {trial.shape.parameters} parameters"
    over = [False]
    slow, slower = MEMORY
    powers = ((1 - slow**k, 1 - slower**k) for k in range(1, trial.steps + 1))
    corrections = Schedule(list(powers), device, weights.dtype)

    def answered(weights: Tensor, counts: Tensor, target: Tensor) -> tuple[Tensor, Scored]:
        """What all rates retrieve of the same sequences, and its score."""
        x = written_at_end(trial.shape, frozen, _parts(weights, start), counts.expand(runs, -1, -1))
        return x, scored(x, frozen.u, target.expand(runs, -1))

    def step(recorded: bool) -> tuple[Tensor, None]:
        leaf = weights.requires_grad_()
        x, now = answered(leaf, *task.questions(facts, answers, trial.batch_size, stream))
        (slope,) = torch.autograd.grad(x, leaf, now.gradient)
        adam(weights.detach_(), slope, moments, rates, corrections())
        return now.loss, None

    def test_it(made: int) -> None:
        if made % trial.every == 0 or made == trial.steps:
            right = answered(weights, *test)[1].right.sum(1)
            torch.maximum(best[1], right, out=best[1])
            if made <= trial.steps // 2:
                best[0] = best[1]
        share = float(best[1].max()) / trial.test_size
        half = made == trial.steps // 2
        over[0] = share >= trial.level or (half and share < trial.hopeless)

    stops = {*range(trial.every, trial.steps, trial.every), trial.steps // 2, trial.steps} - {0}
    made = loop.descend(
        trial.steps, label, step, rows=[], ended=lambda: over[0], stops=sorted(stops),
        at_stop=test_it, weights=weights, moments=moments, stream=stream, best=best,
        last=corrections.place,
    )  # fmt: skip
    half, whole = best.tolist()
    return TrialResult(tuple(half), tuple(whole), made)


@torch.no_grad()
def adam(
    weights: Float[Tensor, "runs n"],
    slope: Float[Tensor, "runs n"],
    moments: tuple[Float[Tensor, "runs n"], Float[Tensor, "runs n"]],
    rates: Float[Tensor, "runs 1"],
    corrections: Float[Tensor, " 2"],
) -> None:
    """A step of Adam in place, each run at its own rate; the corrections are 1 - beta^step."""
    (first, second), (slow, slower) = moments, MEMORY
    first.lerp_(slope, 1 - slow)
    second.mul_(slower).addcmul_(slope, slope, value=1 - slower)
    length = (second / corrections[1]).sqrt_().add_(SMALL)
    weights.sub_((first / length).mul_(rates / corrections[0]))


def _parts(weights: Float[Tensor, "runs n"], like: Parameters) -> Parameters:
    """The matrices of the model, views of one row of weights a run."""
    pieces = weights.split([part[0].numel() for part in like], dim=1)
    shapes = (part.shape[1:] for part in like)
    return Parameters(*(p.unflatten(1, s) for p, s in zip(pieces, shapes, strict=True)))
