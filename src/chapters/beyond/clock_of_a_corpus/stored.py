"""Trainings of the language model, stored in data/clock_of_a_corpus.json, and their cells."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch.nn.functional import cross_entropy

from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.memo import resumable
from emergence.running.records import StoredRuns

from .corpora import Natural, Synthetic, tokens_of
from .network import CorpusTransformer, Effects, effects, repeated_halves

BUDGET = 5_000_000  # tokens that a run reads at most, unless its cell says so
DIM = 128
NORM = 4.0  # of embeddings, as in chapter A loss at every position
BETAS = (0.9, 0.99)  # of AdamW: emergence takes hundreds of steps, the default remembers a thousand
WEIGHT_DECAY = 0.01
HELD_OUT = 0.1  # of the text, at its end
PROBES = 32  # sequences and windows that a look measures
PROBE_SEED = 1_000_003  # of no training
GROWTH = 1.1  # of the steps from one look to the next
FIRST_LOOK, SPARSEST = 20, 250  # in steps


@dataclass(frozen=True)
class Cell:
    """One training."""

    text: Synthetic | Natural  # what it reads
    context: int  # tokens C of a window
    batch_size: int  # windows B of a step
    budget: int = BUDGET  # tokens that it reads at most
    seed: int = 0  # of initial weights and windows
    heads: int = 1  # of a layer
    learning_rate: float = 3e-3  # of AdamW

    @property
    def steps(self) -> int:
        """Updates after which a run counts as without a head."""
        return self.budget // (self.context * self.batch_size)


@resumable
def train_on(
    cell: Cell, tokens: Int[np.ndarray, " tokens"], *, until: float, label: str = "training"
) -> tuple[list[int], list[Effects], float]:
    """Train on random windows of a text until the prefix score reaches `until` or the steps end.

    Returns:
        The steps of the looks, what they measured, and the loss of the last batch.
    """
    stream = generator(cell.seed, torch.device("cpu"))
    context, vocabulary = cell.context, int(tokens.max()) + 1
    text = torch.as_tensor(tokens)
    read, unread = text[: -int(HELD_OUT * len(text))], text[-int(HELD_OUT * len(text)) :]
    model = CorpusTransformer(
        DIM, vocabulary, context, norm=NORM, generator=stream, heads=cell.heads
    )
    optimiser = torch.optim.AdamW(
        model.parameters(),
        lr=cell.learning_rate, weight_decay=WEIGHT_DECAY, betas=BETAS, fused=True,
    )  # fmt: skip
    probe = generator(PROBE_SEED, torch.device("cpu"))
    halves = repeated_halves(unread, PROBES, context, generator=probe)
    held_out = windows(unread, PROBES, context, probe)
    looks: list[Any] = []  # steps, and then all measures
    losses: list[Any] = []
    due = looks_at(cell.steps)

    def ended() -> bool:
        return bool(looks) and looks[-1][1] >= until

    for step in loop.steps(
        cell.steps, label,
        ended=ended, parameters=tuple(model.parameters()), optimiser=optimiser,
        stream=stream, looks=looks, losses=losses,
    ):  # fmt: skip
        batch = windows(read, cell.batch_size, context, stream)
        loss = cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses[:] = [float(loss.detach())]
        if step + 1 in due:
            loop.check_finite(loss.detach(), label, step)
            looks.append((step + 1, *effects(model, halves, held_out)))
    return [int(look[0]) for look in looks], [Effects(*look[1:]) for look in looks], losses[0]


def looks_at(steps: int) -> set[int]:
    """After how many updates a network is measured: ever more apart, and after the last."""
    moments = [FIRST_LOOK]
    while moments[-1] < steps:
        moments.append(moments[-1] + min(SPARSEST, max(10, int((GROWTH - 1) * moments[-1]))))
    return {look for look in moments if look < steps} | {steps}


def windows(
    text: Int[torch.Tensor, " tokens"], count: int, context: int, stream: torch.Generator
) -> Int[torch.Tensor, "count length"]:
    """Windows of a text at random places, each a token longer than the context."""
    starts = torch.randint(len(text) - context, (count,), generator=stream)
    return text[starts[:, None] + torch.arange(context + 1)]


COMMAND = "make record WHAT=runs RUNS=clock_of_a_corpus"
TEXT_SEED = 0  # of made-up texts
TEXT_TOKENS = 2**21
LEVEL, ENOUGH = 0.2, 0.4  # the prefix score at which a head is there, and at which a run ends


def text_tokens(text: Synthetic | Natural) -> Int[np.ndarray, " tokens"]:
    """A text in tokens, all of which occur."""
    if isinstance(text, Natural):
        return tokens_of(text.name, text.vocabulary)
    return text.text(TEXT_TOKENS, seed=TEXT_SEED)


def run(cell: Cell) -> dict[str, Any]:
    """What is stored of a cell: looks by growing numbers of steps, and all that they measure."""
    label = f"{cell.text}, C = {cell.context}, B = {cell.batch_size}"
    steps, effects_at, loss = train_on(cell, text_tokens(cell.text), until=ENOUGH, label=label)
    measured = {name: [getattr(e, name) for e in effects_at] for name in effects_at[0]._fields}
    return {"steps": steps, "loss": round(loss, 4)} | measured


# The pilots from which the constant of `emergence.clock` was read, run again by the code of today.
PILOTS: tuple[Cell, ...] = (
    *(Cell(Synthetic(256, 0.5, 0.8), c, 8) for c in (32, 64, 128)),
    Cell(Synthetic(256, 0.5, 0.8), 64, 32),
    Cell(Synthetic(1024, 0.5, 0.8), 64, 8),
    Cell(Synthetic(256, 0.2, 0.8), 64, 8),
    Cell(Synthetic(256, 0.5, 0.4), 64, 8),
    Cell(Synthetic(256, 0.0, 0.8), 64, 8),
)
MADE_UP: tuple[Cell, ...] = (
    Cell(Synthetic(128, 0.5, 0.9), 32, 16),
    Cell(Synthetic(512, 0.5, 0.8), 64, 16),
    Cell(Synthetic(512, 0.3, 0.6), 64, 8),
    Cell(Synthetic(256, 0.7, 0.5), 64, 8),
    Cell(Synthetic(256, 0.3, 0.4), 64, 16),
    Cell(Synthetic(256, 0.0, 0.9), 32, 16),
    Cell(Synthetic(512, 0.2, 0.5), 128, 8),
    Cell(Synthetic(256, 0.5, 0.25), 64, 8),
    Cell(Synthetic(256, 0.1, 0.3), 64, 16),
    Cell(Synthetic(256, 0.0, 0.3), 32, 16),
    Cell(Synthetic(1024, 0.0, 0.5), 64, 8),
    Cell(Synthetic(256, 0.8, 0.02), 64, 8),
)
# Two more seeds of each made-up text in which a head had formed. Declared before any was run.
MORE_SEEDS: tuple[Cell, ...] = tuple(
    replace(cell, seed=seed) for seed in (1, 2) for cell in (*PILOTS, *MADE_UP[:6])
)
# Easy texts with batches of three sizes, and two of long contexts. The long ones were first
# declared with 64 tokens, like the others, and declared again with 1,024 before any of them was
# run, since a token occurred too often in half a window. The first of them showed another limit of
# the score: it asks for a copy half a window back, where these texts do not return to.
EASY = Synthetic(64, 0.5, 0.9)
TWINS: tuple[Cell, ...] = tuple(
    replace(cell, seed=seed)
    for seed in (0, 1, 2)
    for cell in (
        *(Cell(EASY, 32, batch) for batch in (4, 16, 64)),
        Cell(Synthetic(256, 0.5, 0.9), 32, 16),
        Cell(Synthetic(1024, 0.5, 0.8), 256, 4),
        Cell(Synthetic(1024, 0.5, 0.8), 512, 2),
    )
)
CELLS: tuple[Cell, ...] = (
    *PILOTS,
    *MADE_UP,
    *MORE_SEEDS,
    *TWINS,
    Cell(Synthetic(64, 0.5, 0.25), 32, 16),
)

RUNS = StoredRuns(run, CELLS)
