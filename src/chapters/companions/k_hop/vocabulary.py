"""Why a full vocabulary delays composition: two hops asked alone, with one change at a time.

In a full vocabulary every symbol that is no key is the end of a chain. So a network can guess an
end without reading what facts say, by excluding keys. The trials change what the guess has to use,
and the records say what it uses: its probability of the three ends, the same with the values of all
facts replaced by their mean, and its choice among the ends when it is shown only the fact that
holds the answer.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from chapters.companions.retrieval import model, training
from chapters.companions.retrieval.model import Parameters
from chapters.companions.retrieval.task import Batch
from emergence.analysis import first_reached
from running.cache import Task
from running.devices import generator
from running.records import StoredRuns

from .learning import Row, learn, mean_losses, stacked
from .phases import CHAINS, HALF_WAY, Cell, alone

Among = Literal["all", "context", "ends"]
SWITCH = 200  # steps, after which a guess among the ends is nearly learned and nothing else


@dataclass(frozen=True)
class Trial:
    """A cell that asks for one number of hops, with changes; all of them are ours.

    Attributes:
        cell: the training without changes.
        among: the symbols over which the softmax is taken: all that the network has, those of the
            context, or the ends of its chains.
        unused: symbols that the network has and no context.
        full_from: the step from which contexts are drawn without the spare symbols; None for never.
        copying: whether the last layer's values and the read-out begin as a copy of what is
            attended to.
    """

    cell: Cell
    among: Among = "all"
    unused: int = 0
    full_from: int | None = None
    copying: bool = False

    def __post_init__(self) -> None:
        if len(self.cell.stages) > 1 or len(self.cell.asked) > 1:
            raise ValueError(f"a trial asks for one number of hops, got {self.cell.stages}")

    def contexts(self, step: int) -> training.RetrievalTraining:
        """What contexts are drawn from at a step."""
        full = self.full_from is not None and step >= self.full_from
        return (replace(self.cell, spare=0) if full else self.cell).training()

    def network(self) -> model.Architecture:
        """The network, with tables for all symbols."""
        drawn = self.cell.training().architecture
        return replace(drawn, vocabulary=drawn.vocabulary + self.unused)


class Tried(NamedTuple):
    """What was measured on fixed contexts, to a question a chain of each; of each run over time.

    Attributes:
        right: right answers; `lone`: those among the ends, shown only the fact with the answer.
        ends: the probability of the three ends; `without`: that without the values of facts.
    """

    trial: Trial
    moments: Int[np.ndarray, " times"]
    right: Int[np.ndarray, "runs times"]
    lone: Int[np.ndarray, "runs times"]
    ends: Float[np.ndarray, "runs times"]
    without: Float[np.ndarray, "runs times"]

    @property
    def waits(self) -> Float[np.ndarray, " runs"]:
        """The step at which each run first answers `HALF_WAY`; infinity where censored."""
        return first_reached(self.moments, self.shares(self.right), HALF_WAY)

    def shares(self, answers: Int[np.ndarray, "runs times"]) -> Float[np.ndarray, "runs times"]:
        """Answers as a share of the questions."""
        return answers / (CHAINS * self.trial.cell.test_size)

    def at(self, step: int) -> int:
        """The place of a step among the moments; ValueError where nothing was recorded."""
        return self.moments.tolist().index(step)


def allowed(batch: Batch, among: Among, size: int) -> Bool[Tensor, "runs batch 1 vocabulary"]:
    """The symbols over which the softmax is taken, of so many."""
    marked = {
        "all": torch.arange(size).expand(*batch.keys.shape[:2], -1),
        "context": torch.cat([batch.keys, batch.values], dim=-1),
        "ends": batch.target,
    }[among]
    none = torch.zeros(*batch.keys.shape[:2], size, dtype=torch.bool)
    return none.scatter(2, marked, True)[:, :, None]


def logits_among(
    parameters: Parameters, batch: Batch, n_heads: int, among: Among
) -> Float[Tensor, "runs batch chains vocabulary"]:
    """The logits of the answers, minus infinity outside the symbols of the softmax."""
    logits = model.forward(parameters, batch, n_heads).logits
    return logits.masked_fill(~allowed(batch, among, logits.shape[-1]), -torch.inf)


def lone_facts(batch: Batch) -> Batch:
    """Each question with one fact, the one that holds the answer; a context for each question."""
    answering = batch.places[..., 0]  # runs, batch, chains

    def kept(facts: Int[Tensor, "runs batch facts"]) -> Int[Tensor, "runs questions 1"]:
        return facts.gather(-1, answering).flatten(1)[..., None]

    query, target, hops = (
        part.flatten(1)[..., None] for part in (batch.query, batch.target, batch.hops)
    )
    places = torch.zeros_like(query)[..., None]
    return Batch(kept(batch.keys), kept(batch.values), query, target, hops, places)


def without_values(parameters: Parameters, batch: Batch) -> tuple[Parameters, Batch]:
    """A network and contexts in which the value of each fact is the mean over all symbols."""
    mean = parameters.values.mean(dim=1, keepdim=True)
    values = torch.full_like(batch.values, parameters.values.shape[1])
    wider = parameters._replace(values=torch.cat([parameters.values, mean], dim=1))
    return wider, batch._replace(values=values)


def copying(parameters: Parameters) -> None:
    """Let the last layer pass on what it attends to, and the read-out name its value; in place."""
    last, dim = parameters.layers[-1], parameters.values.shape[-1]
    with torch.no_grad():
        last.attend[:, :, 2 * dim :] = torch.eye(dim)
        last.merge.copy_(torch.eye(dim).expand_as(last.merge))
        parameters.readout.copy_(parameters.values.mT / dim**0.5)


@torch.no_grad()
def read(
    parameters: Parameters, batch: Batch, n_heads: int, among: Among
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Right answers, those from lone facts, and the ends' probability with and without values."""
    size = parameters.readout.shape[-1]
    ends = allowed(batch, "ends", size)
    right = logits_among(parameters, batch, n_heads, among).argmax(dim=-1) == batch.target
    alone = model.forward(parameters, lone_facts(batch), n_heads).logits
    alone = alone.view(*batch.target.shape, size).masked_fill(~ends, -torch.inf)
    lone = alone.argmax(dim=-1) == batch.target

    def on_ends(network: Parameters, contexts: Batch) -> Float[Tensor, " runs"]:
        logits = model.forward(network, contexts, n_heads).logits
        shares = logits.masked_fill(~allowed(batch, among, size), -torch.inf).softmax(dim=-1)
        return (shares * ends).sum(dim=-1).mean(dim=(1, 2))

    counts = right.sum(dim=(1, 2)), lone.sum(dim=(1, 2))
    return *counts, on_ends(parameters, batch), on_ends(*without_values(parameters, batch))


def measure(trial: Trial) -> Tried:
    """Train the networks of a trial until all have learned or the limit is reached."""
    cell, n_heads = trial.cell, trial.cell.n_heads
    seeds = range(cell.first_seed, cell.first_seed + cell.n_seeds)
    streams = [generator(seed, torch.device("cpu")) for seed in seeds]
    parameters = model.initial(trial.network(), streams)
    if trial.copying:
        copying(parameters)

    @cache
    def test(settings: training.RetrievalTraining) -> Batch:
        return training.contexts(settings, seeds, cell.test_size, device=torch.device("cpu"))[
            cell.asked[0] - 1
        ]

    def losses(step: int) -> Float[Tensor, " runs"]:
        batch = trial.contexts(step).draw(cell.asked, cell.batch_size, streams)
        return mean_losses(logits_among(parameters, batch, n_heads, trial.among), batch)

    def record(step: int) -> Row:
        return (step, *read(parameters, test(trial.contexts(step)), n_heads, trial.among))

    def ended(row: Row) -> bool:
        least = row[1].min() / (CHAINS * cell.test_size)
        return row[0] > (trial.full_from or 0) and bool(least >= cell.until)

    moments, *series = stacked(
        learn(
            Task.of(measure, trial=trial),
            cell.limit,
            parameters,
            streams,
            losses=losses,
            rate=trial.contexts(0).rate,
            record=record,
            every=cell.record_every,
            ended=ended,
            label=f"{trial.among}, {cell.spare} spare",
        )
    )
    return Tried(trial, np.array(moments), *series)


def two(spare: int, limit: int = 2000) -> Cell:
    """Two hops alone on chains of four facts."""
    return alone(3, 2, limit, spare=spare, n_seeds=3)


FULL, SPARE = Trial(two(0)), Trial(two(1))
MASKED, MANY_MASKED = (Trial(two(spare, 1200), among="context") for spare in (1, 17))
MOVED = Trial(two(1), full_from=SWITCH)
COPYING = Trial(two(0), copying=True)
UNUSED = Trial(two(0, 1200), unused=1)
TOLD, TOLD_SPARE = (Trial(two(spare, 1000), among="ends") for spare in (0, 1))
TOLD_COPYING = Trial(two(0, 1000), among="ends", copying=True)
TRIALS: tuple[Trial, ...] = (
    SPARE, FULL, MASKED, MOVED, COPYING, TOLD_SPARE, TOLD, MANY_MASKED, TOLD_COPYING, UNUSED,
)  # fmt: skip


def run(trial: Trial) -> dict[str, Any]:
    """What is stored of a trial, by run and time."""
    record = measure(trial)
    curves = {name: getattr(record, name).round(4).tolist() for name in Tried._fields[2:]}
    return {"moments": record.moments.tolist()} | curves


RUNS = StoredRuns(run, TRIALS)
