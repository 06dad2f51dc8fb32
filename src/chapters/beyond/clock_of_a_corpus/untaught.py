"""Trainings on texts for which the clock predicts no head, stored in data/clock_untaught.json."""

import math
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
from jaxtyping import Int

from emergence.clock import pulls, steps_to_head
from emergence.running.records import StoredRuns

from .measures import Effects
from .stored import ENOUGH
from .synthetic import Synthetic
from .training import Cell, train_on

COMMAND = "make record WHAT=runs RUNS=clock_untaught"
TOKENS, CONTEXT, BATCH = 2**20, 32, 16
BUDGET = 1_500_000  # tokens: ten times what the easiest made-up text of this context needs
WINDOWS = 2048


@dataclass(frozen=True)
class Untaught:
    """A text in which what followed a token before says nothing good of what follows it now.

    Attributes:
        kind: `deck`, all tokens in random order, and again in another; `chain`, a Markov chain,
            whose table of successors knows all there is to know; `alone`, tokens drawn one by one.
        vocabulary: number of tokens V.
        seed: of the text.
    """

    kind: Literal["deck", "chain", "alone"]
    vocabulary: int
    seed: int

    def text(self, tokens: int) -> Int[np.ndarray, " tokens"]:
        """So many tokens of it, a multiple of V."""
        stream, size = np.random.default_rng(self.seed), self.vocabulary
        if self.kind == "alone":
            return stream.integers(0, size, size=tokens)
        if self.kind == "deck":
            return stream.permuted(np.tile(np.arange(size), (tokens // size, 1)), axis=1).ravel()
        table = np.cumsum(stream.dirichlet(np.full(size, 0.2), size=size), axis=1)
        rows = np.empty((size, tokens // size), np.int64)  # V chains side by side
        rows[:, 0] = np.arange(size)
        for place in range(1, rows.shape[1]):
            chance = stream.random(size)[:, None]
            rows[:, place] = (table[rows[:, place - 1]] < chance).sum(axis=1).clip(max=size - 1)
        return rows.ravel()


def said_of(tokens: Int[np.ndarray, " tokens"]) -> list[float | None]:
    """Steps by the clock for a text and for its two halves; None for never."""
    half = len(tokens) // 2
    parts = (tokens, tokens[:half], tokens[half:])
    times = [steps_to_head(pulls(part, CONTEXT, windows=WINDOWS), BATCH) for part in parts]
    return [None if math.isinf(time) else round(time, 1) for time in times]


def run(text: Untaught) -> dict[str, Any]:
    """What the clock says of a text, and what a training on it measured at growing steps.

    None stands for a loss where a bigram returns, if none does in the held-out windows.
    """
    tokens = text.text(TOKENS)
    # of the made-up text only its size counts here
    cell = Cell(Synthetic(text.vocabulary, 0.0, 0.0), CONTEXT, BATCH, BUDGET, text.seed)
    steps, effects_at, loss = train_on(cell, tokens, until=ENOUGH, label=str(text))
    measured = {
        name: [None if math.isnan(value) else value for value in values]
        for name, values in zip(Effects._fields, zip(*effects_at, strict=True), strict=True)
    }
    return {"said": said_of(tokens), "steps": steps, "loss": round(loss, 4)} | measured


SIZES = (64, 128, 256, 512)
TEXTS = (
    *(Untaught("alone", size, 0) for size in SIZES),
    *(Untaught("deck", size, seed) for seed, size in product(range(4), SIZES)),
    *(Untaught("chain", size, seed) for seed, size in product(range(3), SIZES)),
)
RUNS = StoredRuns(run, TEXTS)
