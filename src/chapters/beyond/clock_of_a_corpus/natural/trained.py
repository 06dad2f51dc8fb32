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

from emergence.running.devices import generator

from ..corpora import Natural
from ..measures import Effects, repeated_halves
from ..network import CorpusTransformer
from ..stored import text_tokens
from ..synthetic import Synthetic
from ..training import DIM, HELD_OUT, NORM, PROBE_SEED, PROBES, Cell, windows
from .network import GivenPrevious
from .predicted import ceiling, null

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

    @property
    def source(self) -> tuple[Synthetic | Natural, bool]:
        """The text, and whether its null is read instead."""
        return self.text, self.kind == "null"


@dataclass(frozen=True)
class Started:
    """A training before its first step.

    Attributes:
        cell: its settings.
        model: the network at initialisation.
        read: tokens on which it is trained.
        stream: where its windows are drawn from.
        halves, unseen: sequences of which the second half repeats the first, and held-out windows.
        ceiling: the best prefix score.
    """

    cell: Cell
    model: CorpusTransformer
    read: Int[Tensor, " tokens"]
    stream: torch.Generator
    halves: Int[Tensor, "sequences context"]
    unseen: Int[Tensor, "windows length"]
    ceiling: float

    @classmethod
    def of(cls, training: Training, text: Int[Tensor, " tokens"]) -> "Started":
        """A training and its text in tokens."""
        cell, last = training.cell, int(HELD_OUT * len(text))
        read, held_out = text[:-last], text[-last:]
        stream = generator(cell.seed, CPU)
        network = GivenPrevious if training.kind == "knock-in" else CorpusTransformer
        model = network(
            DIM, int(text.max()) + 1, cell.context, norm=NORM, generator=stream, heads=cell.heads
        )  # fmt: skip
        probe = generator(PROBE_SEED, CPU)
        halves = repeated_halves(held_out, PROBES, cell.context, generator=probe)
        unseen = windows(held_out, PROBES, cell.context, probe)
        return cls(cell, model, read, stream, halves, unseen, ceiling(held_out, cell.context))

    @property
    def vocabulary(self) -> int:
        """Different tokens V of its text."""
        return len(self.model.W_E)

    def starts(self) -> Int[Tensor, " batch"]:
        """Where the next batch of windows begins."""
        room = len(self.read) - self.cell.context
        return torch.randint(room, (self.cell.batch_size,), generator=self.stream)


def training_tokens(training: Training) -> Int[Tensor, " tokens"]:
    """What a training reads and is tested on, in tokens."""
    tokens = text_tokens(training.text)
    return torch.as_tensor(null(tokens) if training.kind == "null" else tokens)


def outcome_of(looks: Sequence[Any], begun: Started) -> dict[str, Any]:
    """What is kept: the ceiling, and all measures by growing numbers of steps."""
    names = "steps", *Effects._fields
    measured = {name: [look[n] for look in looks] for n, name in enumerate(names)}
    return {"ceiling": round(begun.ceiling, 4)} | measured
