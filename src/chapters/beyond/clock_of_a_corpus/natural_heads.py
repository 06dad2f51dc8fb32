"""The trainings on long natural texts that are stored in data/natural_heads.json.

A head is there once the prefix score is a fifth of its ceiling, which is what the score of the
earlier trainings asks for where the ceiling is one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch

from emergence.running.records import StoredRuns

from .corpora import Text
from .natural_predictions import BATCH, CONTEXT, RATE, TEXTS
from .training import CPU, Cell, Training, train_together

COMMAND = "make record WHAT=runs RUNS=natural_heads"
BUDGET = 48_000_000  # tokens: three times what the published constant asks for
HEADS = 4  # of a layer


def together(
    trainings: Sequence[Training], device: torch.device
) -> Iterator[tuple[Training, dict[str, Any]]]:
    """The trainings and what is stored of each."""
    for training, result in train_together(trainings, device):
        yield training, {name: part for name, part in result.items() if name != "loss"}


def run(training: Training) -> dict[str, Any]:
    """What is stored of a training, made on a processor."""
    ((_, result),) = together((training,), CPU)
    return result


def head_training(text: Text, seed: int = 0) -> Training:
    return Training(Cell(text, CONTEXT, BATCH, BUDGET, seed, HEADS, RATE))


CONTROL = head_training(TEXTS[0])  # on a made-up text, where a head is certain
NATURAL: tuple[Training, ...] = tuple(
    head_training(text, seed) for seed in (0, 1, 2) for text in TEXTS[1:]
)
FIRST = NATURAL[: len(TEXTS) - 1]  # one seed of each text
KNOCK_INS = tuple(replace(training, kind="knock-in") for training in (CONTROL, *FIRST))
NULLS = tuple(replace(training, kind="null") for training in FIRST)

# The cheapest first: controls, one seed of each text and then all, bytes before pieces. Nulls cost
# the whole budget.
RUNS = StoredRuns(
    run,
    (CONTROL, KNOCK_INS[0], *FIRST, *KNOCK_INS[1:], *NATURAL[len(FIRST) :], *NULLS),
    together=together,
)
