"""Trainings on long natural texts, stored in data/natural_heads.json, and how they were declared.

A head is there once the prefix score is a fifth of its ceiling, which is what the score of the
earlier trainings asks for where the ceiling is one.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch.nn.functional import cross_entropy

from running import loop
from running.cache import Task
from running.devices import generator
from running.records import StoredRuns

from ..measures import Effects, effects, repeated_halves
from ..network import CorpusTransformer
from ..stored import ENOUGH, Cell, Natural
from ..synthetic import Synthetic
from ..training import (
    BETAS,
    DIM,
    HELD_OUT,
    NORM,
    PROBE_SEED,
    PROBES,
    WEIGHT_DECAY,
    looks_at,
    windows,
)
from .network import GivenPrevious
from .predicted import BATCH, CONTEXT, RATE, TEXTS, ceiling, null, tokens_of

COMMAND = "make record WHAT=runs RUNS=natural_heads"
BUDGET = 48_000_000  # tokens: three times what the published constant asks for
HEADS = 4  # of a layer
Kind = Literal["whole", "knock-in", "null"]


@dataclass(frozen=True)
class Training:
    """One training.

    Attributes:
        cell: the text, the seed and the settings.
        kind: the whole of the head learned, its previous-token step given, or the whole learned
            from the null of the text.
    """

    cell: Cell
    kind: Kind = "whole"

    @property
    def text(self) -> Synthetic | Natural:
        """What is read."""
        return self.cell.text


def run(training: Training) -> dict[str, Any]:
    """What is stored of a training: looks by growing numbers of steps, and all that they measure.

    It ends once the score is two fifths of its ceiling, or with the budget.
    """
    cell = training.cell
    tokens = tokens_of(cell.text)
    text = torch.as_tensor(null(tokens) if training.kind == "null" else tokens)
    vocabulary, last = int(tokens.max()) + 1, int(HELD_OUT * len(text))
    read, held_out = text[:-last], text[-last:]
    stream = generator(cell.seed, torch.device("cpu"))
    network = GivenPrevious if training.kind == "knock-in" else CorpusTransformer
    model = network(
        DIM, vocabulary, cell.context, norm=NORM, generator=stream, heads=cell.heads
    )  # fmt: skip
    optimiser = torch.optim.AdamW(
        model.parameters(),
        lr=cell.learning_rate, weight_decay=WEIGHT_DECAY, betas=BETAS, fused=True,
    )  # fmt: skip
    probe = generator(PROBE_SEED, torch.device("cpu"))
    halves = repeated_halves(held_out, PROBES, cell.context, generator=probe)
    unseen = windows(held_out, PROBES, cell.context, probe)
    best = ceiling(held_out, cell.context)
    looks: list[Any] = []  # steps, and then all measures
    losses: list[Any] = []
    due = looks_at(cell.steps)
    for step in loop.steps(
        Task.of(run, training=training),
        cell.steps,
        f"{cell.text}, {training.kind}, seed {cell.seed}",
        ended=lambda: bool(looks) and looks[-1][1] >= ENOUGH * best,
        parameters=tuple(model.parameters()),
        optimiser=optimiser,
        stream=stream,
        looks=looks,
        losses=losses,
    ):
        batch = windows(read, cell.batch_size, cell.context, stream)
        loss = cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses[:] = [float(loss.detach())]
        if step + 1 in due:
            loop.check_finite(loss.detach(), str(cell.text), step)
            looks.append((step + 1, *effects(model, halves, unseen)))
    names = "steps", *Effects._fields
    measured = {name: [look[n] for look in looks] for n, name in enumerate(names)}
    return {"loss": round(losses[0], 4), "ceiling": round(best, 4)} | measured


def whole(text: Synthetic | Natural, seed: int = 0) -> Training:
    """The training of a head on a text."""
    return Training(Cell(text, CONTEXT, BATCH, BUDGET, seed, HEADS, RATE))


CONTROL = whole(TEXTS[0])  # on a made-up text, where a head is certain
NATURAL: tuple[Training, ...] = tuple(whole(text, seed) for seed in (0, 1, 2) for text in TEXTS[1:])
FIRST = NATURAL[: len(TEXTS) - 1]  # one seed of each text
KNOCK_INS = tuple(replace(training, kind="knock-in") for training in (CONTROL, *FIRST))
NULLS = tuple(replace(training, kind="null") for training in FIRST)

# The cheapest first: controls, one seed of each text and then all, bytes before pieces. Nulls cost
# the whole budget.
RUNS = StoredRuns(
    run, (CONTROL, KNOCK_INS[0], *FIRST, *KNOCK_INS[1:], *NATURAL[len(FIRST) :], *NULLS)
)
