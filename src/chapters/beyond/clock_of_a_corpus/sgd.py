"""The clock under plain gradient descent, and trainings stored in data/clock_sgd.json.

Nothing divides a gradient here, so that its mean over tokens counts, not its noise, and with it how
many tokens, and how many positions, share that mean.
"""

import hashlib
import math
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from emergence.clock import Pulls
from running import loop
from running.cache import Task
from running.devices import generator
from running.records import StoredRuns

from .measures import Effects, effects, repeated_halves
from .network import CorpusTransformer
from .stored import ENOUGH, read
from .synthetic import Synthetic
from .training import DIM, HELD_OUT, NORM, PROBE_SEED, PROBES, looks_at, windows

COMMAND = "make record WHAT=runs RUNS=clock_sgd"
CONSTANT = 4.2  # from three pilot trainings at three learning rates
OUTPUT = 4 * NORM**2  # four matrices between a token and a logit, of embeddings of this norm
SCORES = 2 * NORM**4 / DIM  # two matrices between two tokens and their score
ROOT = 4  # the previous token grows with the fourth power of time, as under AdamW


@dataclass(frozen=True)
class Descent:
    """One training by gradient descent without momentum or weight decay.

    Attributes:
        text: what it reads.
        context: tokens C of a window.
        batch_size: windows B of a step.
        learning_rate: of all weights.
        steps: after which it counts as without a head.
        seed: of initial weights and windows.
    """

    text: Synthetic
    context: int
    batch_size: int
    learning_rate: float
    steps: int
    seed: int = 0


def run(cell: Descent) -> dict[str, Any]:
    """What is stored of a cell: looks by growing numbers of steps, and all that they measure."""
    tokens = read(cell.text)
    stream, probe = (generator(s, torch.device("cpu")) for s in (cell.seed, PROBE_SEED))
    text, kept = torch.as_tensor(tokens).tensor_split([-int(HELD_OUT * len(tokens))])
    model = CorpusTransformer(DIM, cell.text.vocabulary, cell.context, norm=NORM, generator=stream)
    optimiser = torch.optim.SGD(model.parameters(), lr=cell.learning_rate, fused=True)
    halves = repeated_halves(kept, PROBES, cell.context, generator=probe)
    held_out = windows(kept, PROBES, cell.context, probe)
    due = looks_at(cell.steps)
    looks: list[Any] = []  # steps, and then all measures
    label = f"{cell.text}, C = {cell.context}, B = {cell.batch_size}, SGD"
    task = Task.of(run, cell=cell, tokens=hashlib.sha256(tokens.tobytes()).hexdigest())
    for step in loop.steps(
        task,
        cell.steps,
        label,
        ended=lambda: bool(looks) and looks[-1][1] >= ENOUGH,
        parameters=tuple(model.parameters()),
        optimiser=optimiser,
        stream=stream,
        looks=looks,
    ):
        batch = windows(text, cell.batch_size, cell.context, stream)
        loss = cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step + 1 in due:
            loop.check_finite(loss.detach(), label, step)
            looks.append((step + 1, *effects(model, halves, held_out)))
    names = "steps", *Effects._fields
    return {
        name: list(column) for name, column in zip(names, zip(*looks, strict=True), strict=True)
    }


def output_speed(found: Pulls) -> float:
    """How fast copying grows at first, at a learning rate of one."""
    return OUTPUT * found.output[0] / found.vocabulary


def steps_to_head(found: Pulls, learning_rate: float) -> float:
    """Steps of gradient descent until the head is there, by counts; infinity for never.

    A token has a direction of its own in the matrices of output and match, and receives its share
    1/V of their signals; a position has one in the scores of layer 1, and receives 1/C.
    """
    output = output_speed(found)
    match = SCORES * found.match[0] / found.vocabulary
    previous = SCORES * found.previous[0] / found.context
    if min(output, match, previous) <= 0:
        return math.inf
    return float(CONSTANT / (learning_rate * (output**2 * match * previous) ** (1 / ROOT)))


EASY = Synthetic(64, 0.5, 0.9)
RATE, SLOW, STEPS = 0.5, 0.2, 4000
# The constant was read from these, each with a head, before any other cell was declared. At a rate
# of 3 the loss was not finite after twenty steps.
PILOTS: tuple[Descent, ...] = tuple(Descent(EASY, 32, 16, rate, STEPS) for rate in (0.1, 0.3, 1.0))
# The batches were first declared at the rate of the others. At four windows a step the loss was not
# finite after thirty steps, so they were declared again, before any other of these was run.
BATCHES: tuple[Descent, ...] = tuple(Descent(EASY, 32, batch, SLOW, STEPS) for batch in (4, 16, 64))
VOCABULARIES: tuple[Descent, ...] = tuple(
    Descent(Synthetic(v, 0.5, 0.9), 32, 16, RATE, STEPS) for v in (64, 256, 128)
)
OTHERS: tuple[Descent, ...] = (
    *BATCHES,
    *VOCABULARIES,
    Descent(EASY, 64, 16, RATE, STEPS),
    Descent(Synthetic(64, 0.0, 0.9), 32, 16, RATE, STEPS),
    Descent(Synthetic(64, 0.5, 0.5), 32, 16, RATE, STEPS),
)
WEAK = Descent(Synthetic(64, 0.5, 0.25), 32, 16, RATE, 3 * STEPS)
# With 64 tokens the score cannot see a head in so long a context, where a token occurs often in
# half a window: its loss is that of a head. More seeds, and a context of 256, were declared and not
# run, and are not declared any more.
LONG = Descent(EASY, 128, 8, RATE, STEPS)
CELLS: tuple[Descent, ...] = (
    *PILOTS,
    *(replace(cell, seed=seed) for seed in range(3) for cell in OTHERS),
    LONG,
    WEAK,
)

RUNS = StoredRuns(run, CELLS)
