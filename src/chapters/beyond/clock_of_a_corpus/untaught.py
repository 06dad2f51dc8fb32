"""Trainings on texts for which the clock predicts no head, stored in data/clock_untaught.json."""

import math
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
from jaxtyping import Int

from emergence.clock import pulls, steps_to_head
from emergence.running.records import StoredRuns

from .stored import ENOUGH, LEVEL
from .synthetic import Synthetic
from .training import Cell, train_on

TOKENS, CONTEXT, BATCH = 2**20, 32, 16
BUDGET = 2**19  # tokens: more than three times what the easiest made-up text of this context needs
WINDOWS = 2048


@dataclass(frozen=True)
class Untaught:
    """A text in which what followed a token before says nothing good of what follows it now.

    Attributes:
        kind: `deck`, all tokens in random order, and again in another; `chain`, a Markov chain,
            whose table of successors knows all there is to know.
        vocabulary: number of tokens V.
        seed: of the text.
    """

    kind: Literal["deck", "chain"]
    vocabulary: int
    seed: int

    def text(self, tokens: int) -> Int[np.ndarray, " tokens"]:
        """So many tokens of it, a multiple of V."""
        stream, size = np.random.default_rng(self.seed), self.vocabulary
        if self.kind == "deck":
            return stream.permuted(np.tile(np.arange(size), (tokens // size, 1)), axis=1).ravel()
        table = np.cumsum(stream.dirichlet(np.full(size, 0.2), size=size), axis=1)
        rows = np.empty((size, tokens // size), np.int64)  # V chains side by side
        rows[:, 0] = np.arange(size)
        for place in range(1, rows.shape[1]):
            chance = stream.random(size)[:, None]
            rows[:, place] = (table[rows[:, place - 1]] < chance).sum(axis=1).clip(max=size - 1)
        return rows.ravel()


def run(text: Untaught) -> dict[str, Any]:
    """Whether the clock says no of a text and of both halves, and the scores of a training."""
    tokens = text.text(TOKENS)
    parts = (tokens, *np.split(tokens, 2))
    said = [steps_to_head(pulls(part, CONTEXT, windows=WINDOWS), BATCH) for part in parts]
    # of the made-up text only its size counts here
    cell = Cell(Synthetic(text.vocabulary, 0.0, 0.0), CONTEXT, BATCH, BUDGET, text.seed)
    steps, effects_at, _ = train_on(cell, tokens, until=ENOUGH, label=str(text))
    scores = [round(effects.prefix, 4) for effects in effects_at]
    return {"no": all(map(math.isinf, said)), "steps": steps, "prefix": scores}


def formed(result: dict[str, Any]) -> bool:
    """Whether there was a head that attends as one."""
    return max(result["prefix"]) >= LEVEL


SIZES, SEEDS = (64, 128, 256), range(4)
DECKS = [Untaught("deck", size, seed) for size, seed in product(SIZES, SEEDS)]
CHAINS = [Untaught("chain", size, seed) for size, seed in product(SIZES, SEEDS)]
RUNS = StoredRuns(run, (*DECKS, *CHAINS))
