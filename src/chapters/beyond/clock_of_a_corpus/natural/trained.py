"""Trainings on long natural texts, which `declared` lists.

A head is there once the prefix score is a fifth of its ceiling, which is what the score of the
earlier trainings asks for where the ceiling is one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from running import loop
from running.cache import Task
from running.devices import generator

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
from .predicted import ceiling, null, tokens_of

CPU = torch.device("cpu")  # where all random numbers are drawn
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


@dataclass(frozen=True)
class Started:
    """A training before its first step.

    Attributes:
        model: the network at initialisation.
        read: tokens on which it is trained.
        vocabulary: different tokens V of its text.
        context, batch_size: of its windows.
        stream: where its windows are drawn from.
        halves, unseen: sequences of which the second half repeats the first, and held-out windows.
        ceiling: the best prefix score.
    """

    model: CorpusTransformer
    read: Int[Tensor, " tokens"]
    vocabulary: int
    context: int
    batch_size: int
    stream: torch.Generator
    halves: Int[Tensor, "sequences context"]
    unseen: Int[Tensor, "windows length"]
    ceiling: float

    @classmethod
    def of(cls, training: Training, text: Int[Tensor, " tokens"]) -> "Started":
        """A training and its text in tokens."""
        cell, vocabulary = training.cell, int(text.max()) + 1
        last = int(HELD_OUT * len(text))
        read, held_out = text[:-last], text[-last:]
        stream = generator(cell.seed, CPU)
        network = GivenPrevious if training.kind == "knock-in" else CorpusTransformer
        model = network(
            DIM, vocabulary, cell.context, norm=NORM, generator=stream, heads=cell.heads
        )  # fmt: skip
        probe = generator(PROBE_SEED, CPU)
        halves = repeated_halves(held_out, PROBES, cell.context, generator=probe)
        unseen = windows(held_out, PROBES, cell.context, probe)
        best = ceiling(held_out, cell.context)
        return cls(
            model, read, vocabulary, cell.context, cell.batch_size, stream, halves, unseen, best
        )  # fmt: skip

    def starts(self) -> Int[Tensor, " batch"]:
        """Where the next batch of windows begins."""
        room = len(self.read) - self.context
        return torch.randint(room, (self.batch_size,), generator=self.stream)


def text_of(training: Training) -> Int[Tensor, " tokens"]:
    """What a training reads and is tested on, in tokens."""
    tokens = tokens_of(training.text)
    return torch.as_tensor(null(tokens) if training.kind == "null" else tokens)


def run(training: Training) -> dict[str, Any]:
    """What is stored of a training.

    It ends once the score is two fifths of its ceiling, or with the budget.
    """
    cell, begun = training.cell, Started.of(training, text_of(training))
    optimiser = torch.optim.AdamW(
        begun.model.parameters(),
        lr=cell.learning_rate, weight_decay=WEIGHT_DECAY, betas=BETAS, fused=True,
    )  # fmt: skip
    looks: list[Any] = []  # steps, and then all measures
    due, window = looks_at(cell.steps), torch.arange(cell.context + 1)
    for step in loop.steps(
        Task.of(run, training=training),
        cell.steps,
        f"{cell.text}, {training.kind}, seed {cell.seed}",
        ended=lambda: bool(looks) and looks[-1][1] >= ENOUGH * begun.ceiling,
        parameters=tuple(begun.model.parameters()),
        optimiser=optimiser,
        stream=begun.stream,
        looks=looks,
    ):
        batch = begun.read[begun.starts()[:, None] + window]
        loss = cross_entropy(begun.model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step + 1 in due:
            loop.check_finite(loss.detach(), str(cell.text), step)
            looks.append((step + 1, *effects(begun.model, begun.halves, begun.unseen)))
    return stored(looks, begun)


def stored(looks: Sequence[Any], begun: Started) -> dict[str, Any]:
    """What is kept: the ceiling, and all measures by growing numbers of steps."""
    names = "steps", *Effects._fields
    measured = {name: [look[n] for look in looks] for n, name in enumerate(names)}
    return {"ceiling": round(begun.ceiling, 4)} | measured
