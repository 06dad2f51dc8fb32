"""Why two layers with symbols to spare grow no head that attends away from the end of a chain.

Two layers on mixtures about chains of four facts, which they can follow by merging on both sides
only. Each attempt changes one thing. The records say how far the network comes, how much a head
attends away from the end, what draws it there, and what the heads of layer 1 pass on.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from chapters.companions.retrieval import model, training
from chapters.companions.retrieval.task import Batch
from emergence.analysis import first_reached
from running.cache import Task
from running.devices import generator
from running.records import StoredRuns

from ..learning import Row, learn, mean_losses, stacked
from ..phases import CHAINS, HALF_WAY, Cell, mixed
from ..vocabulary import Among, allowed
from . import two_layers

CPU = torch.device("cpu")
ONE_MORE = 4  # facts: one more than two layers can follow by merging forwards
SPARE = 17


@dataclass(frozen=True)
class Attempt:
    """A cell of two layers with changes; all of them are ours.

    Attributes:
        cell: the training without changes; `until` above 1 takes all its steps.
        among: the symbols over which the softmax is taken.
        alphabets: disjoint sets of symbols, of which every context uses one, all of it; the cell's
            spare symbols are those of the others.
        full_until: before this step contexts use the first symbols only, all of them.
        idle_until: before this step the last head of layer 1 attends to all facts evenly.
        exam_size: contexts on which attention is read.
    """

    cell: Cell
    among: Among = "all"
    alphabets: int = 1
    full_until: int = 0
    idle_until: int = 0
    exam_size: int = 100

    def __post_init__(self) -> None:
        needed = CHAINS * (self.cell.n_hops + 1)
        if self.cell.n_layers != 2 or self.cell.n_hops < 3:
            raise ValueError(f"an attempt has two layers and three facts or more: {self.cell}")
        if self.alphabets > 1 and self.cell.spare != needed * (self.alphabets - 1):
            raise ValueError(f"{self.alphabets} alphabets have {needed} symbols each")

    def contexts(self, step: int) -> training.RetrievalTraining:
        """What contexts are drawn from at a step, but for the choice of an alphabet."""
        full = self.alphabets > 1 or step < self.full_until
        return (replace(self.cell, spare=0) if full else self.cell).training()

    def lettered(self, batch: Batch, streams: list[torch.Generator]) -> Batch:
        """The same contexts, each in an alphabet of its own."""
        if self.alphabets == 1:
            return batch
        size = CHAINS * (self.cell.n_hops + 1)
        shape = batch.keys.shape[1], 1
        chosen = [torch.randint(self.alphabets, shape, generator=s) for s in streams]
        shift = size * torch.stack(chosen)
        return batch._replace(
            keys=batch.keys + shift,
            values=batch.values + shift,
            query=batch.query + shift,
            target=batch.target + shift,
        )


class Attempted(NamedTuple):
    """What was measured on fixed contexts, of each run over time.

    Attributes:
        right: right answers by hops; `away`: mean attention of each head of layer 1 to the next
            fact away from the end.
        pull: what draws fact 2 there for the longest questions, by head, in thousandths: through
            the comparison in layer 2, and through what the fact says.
        carried: what each head of layer 1 passes on of keys, and of values.
    """

    attempt: Attempt
    moments: Int[np.ndarray, " times"]
    right: Int[np.ndarray, "runs times n_hops"]
    away: Float[np.ndarray, "runs times heads"]
    pull: Float[np.ndarray, "runs times heads 2"]
    carried: Float[np.ndarray, "runs times heads 2"]

    @property
    def accuracy(self) -> Float[np.ndarray, "runs times n_hops"]:
        """Share of right answers."""
        return self.right / (CHAINS * self.attempt.cell.test_size)

    @property
    def waits(self) -> Float[np.ndarray, " runs"]:
        """The step at which each run first answers the longest questions half way, or infinity."""
        return first_reached(self.moments, self.accuracy[..., -1], HALF_WAY)

    def when_forward_ends(self, curve: Float[np.ndarray, "runs times *any"]) -> Any:
        """A curve when three hops are learned, which merging forwards allows; NaN if they are not.

        That is, at each run's first record at which they are half way from a guess to certainty.
        """
        found = self.accuracy[..., 2] >= HALF_WAY
        at = found.argmax(axis=1)
        taken = np.asarray(curve, dtype=float)[np.arange(len(at)), at].copy()
        taken[~found.any(axis=1)] = np.nan
        return taken


def measure(attempt: Attempt) -> Attempted:
    """Train the networks of an attempt until all have learned or the limit is reached."""
    cell, n_heads = attempt.cell, attempt.cell.n_heads
    seeds = range(cell.first_seed, cell.first_seed + cell.n_seeds)
    streams = [generator(seed, CPU) for seed in seeds]
    parameters = model.initial(cell.training().architecture, streams)

    @cache
    def fixed(settings: training.RetrievalTraining, size: int) -> tuple[Batch, ...]:
        """Contexts from streams that training never sees."""
        apart = [generator(2**31 + seed, CPU) for seed in seeds]
        drawn = training.contexts(settings, seeds, size, device=CPU)
        return tuple(attempt.lettered(batch, apart) for batch in drawn)

    def answers(batch: Batch, step: int) -> Float[Tensor, "runs batch chains vocabulary"]:
        idle = step < attempt.idle_until
        given = two_layers.logits(parameters, batch, n_heads, idle=idle)
        return given.masked_fill(~allowed(batch, attempt.among, given.shape[-1]), -torch.inf)

    def losses(step: int) -> Float[Tensor, " runs"]:
        batch = attempt.contexts(step).draw(cell.asked, cell.batch_size, streams)
        batch = attempt.lettered(batch, streams)
        return mean_losses(answers(batch, step), batch)

    def record(step: int) -> Row:
        settings = attempt.contexts(step)
        with torch.no_grad():
            right = torch.stack(
                [(answers(batch, step).argmax(dim=-1) == batch.target).sum(dim=(1, 2))
                 for batch in fixed(settings, cell.test_size)], dim=-1,
            )  # fmt: skip
            exam = fixed(settings, attempt.exam_size)[-1]
            away = two_layers.attention_away(parameters, exam, n_heads)
            carried = two_layers.carried(parameters, n_heads)
        pull = 1000 * two_layers.pulls_away(parameters, exam, n_heads)
        return step, right, away, pull, carried

    changed = max(attempt.full_until, attempt.idle_until)

    def ended(row: Row) -> bool:
        least = row[1].min() / (CHAINS * cell.test_size)
        return row[0] > changed and bool(least >= cell.until)

    moments, *series = stacked(
        learn(
            Task.of(measure, attempt=attempt),
            cell.limit,
            parameters,
            streams,
            losses=losses,
            rate=cell.training().rate,
            record=record,
            every=cell.record_every,
            ended=ended,
            label=f"{cell.spare} spare",
        )
    )
    return Attempted(attempt, np.array(moments), *series)


def four(spare: int, limit: int = 4000, **more: Any) -> Cell:
    """A mixture of one to four hops on chains of four facts."""
    given = {"n_seeds": 3, "record_every": 100} | more
    return mixed(2, ONE_MORE, limit, n_hops=ONE_MORE, spare=spare, **given)


FULL, FEW, MANY = (Attempt(four(spare)) for spare in (0, 4, SPARE))
ALPHABETS = Attempt(four(CHAINS * (ONE_MORE + 1)), alphabets=2)
KEPT, EARLY = (
    Attempt(four(SPARE, limit, until=2.0), full_until=until)
    for limit, until in ((6000, 1500), (4000, 600))
)
IDLE = Attempt(four(SPARE), idle_until=1000)
MASKED = Attempt(four(SPARE, 8000), among="context")
TOLD, TOLD_FULL = (Attempt(four(spare, 6000), among="ends") for spare in (SPARE, 0))
WIDE = Attempt(four(SPARE, 3000, dim=128, n_heads=4))
ATTEMPTS = (FULL, MANY, ALPHABETS, KEPT, EARLY, IDLE, FEW, MASKED, TOLD, TOLD_FULL, WIDE)


def run(attempt: Attempt) -> dict[str, Any]:
    """What is stored of an attempt, by run and time."""
    found = measure(attempt)
    digits = {"right": 0, "away": 4, "pull": 2, "carried": 3}
    curves = {name: getattr(found, name).round(n).tolist() for name, n in digits.items()}
    return {"moments": found.moments.tolist()} | curves


RUNS = StoredRuns(run, ATTEMPTS)


def stored(text: str) -> dict[Attempt, Attempted]:
    """The attempts of a file. Raises ValueError for one of other runs."""
    return {
        attempt: Attempted(attempt, *(np.array(kept[name]) for name in Attempted._fields[1:]))
        for attempt, kept in RUNS.read(text).items()
    }
