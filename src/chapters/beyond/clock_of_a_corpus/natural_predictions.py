"""What is predicted of trainings on long natural texts, in data/natural_predictions.json.

The file was committed before the first of these trainings.
"""

import math
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from emergence import clock
from emergence.running.records import StoredRuns

from .corpora import SOURCES, Natural, Synthetic
from .counted import Count, rounded
from .network import repeated_halves
from .stored import text_tokens

CONTEXT, BATCH, RATE = 128, 8, 2e-3  # of the trainings
STRETCHES, STRETCH = 128, 2**16  # tokens that are counted, evenly spread over a text
WINDOWS = 1024  # of these
SEQUENCES = 1024  # on which the best score of a head is computed
CHAIN = 4096  # tokens of a null that depend on one another
# A made-up text stands before the natural ones: on it a head is certain.
TEXTS: tuple[Synthetic | Natural, ...] = (
    Synthetic(256, 0.5, 0.8),
    *(Natural(name, vocabulary) for vocabulary in (256, 1024) for name in SOURCES),
)


def null(tokens: Int[np.ndarray, " tokens"], *, seed: int = 0) -> Int[np.ndarray, " null"]:
    """A text with the same successors and nothing else: each token draws its next one anew.

    It is a multiple of 4,096 tokens long, at most as long as the text.
    """
    order = np.argsort(tokens.astype(np.uint16), kind="stable")  # short numbers sort at once
    counts = np.bincount(tokens)
    first, following = np.cumsum(counts) - counts, np.roll(tokens, -1)
    stream = np.random.default_rng(seed)
    chains = len(tokens) // CHAIN
    rows = np.empty((chains, CHAIN), np.int64)
    now = stream.choice(tokens, chains)
    for place in range(CHAIN):
        rows[:, place] = now
        drawn = first[now] + (stream.random(chains) * counts[now]).astype(np.int64)
        now = following[order[drawn]]
    return rows.ravel()


def ceiling(tokens: Int[Tensor, " tokens"], context: int) -> float:
    """The prefix score of a head that attends to what followed each earlier copy of a token.

    The network is shown sequences of which the second half repeats the first. Where a token occurs
    more than once in a half, such a head cannot tell the copies apart.
    """
    stream = torch.Generator().manual_seed(0)
    halves = repeated_halves(tokens, SEQUENCES, context, generator=stream)
    places = torch.arange(context)
    earlier = places[None, :] < places[context // 2 :, None]
    copies = (halves[:, context // 2 :, None] == halves[:, None, :]) & earlier
    return float((1 / copies.sum(dim=-1)).mean())


def predict(count: Count) -> dict[str, Any]:
    """Tokens to a head by the clock and by the published constant; None for never.

    `null` has what the clock says of a text with the same successors and nothing else.
    """
    tokens = text_tokens(count.text)
    stretches = tokens[: len(tokens) // STRETCHES * STRETCHES].reshape(STRETCHES, -1)
    some = stretches[:, :STRETCH].ravel()
    counts = clock.pulls(some, count.context, windows=WINDOWS)
    without = clock.pulls(null(some), count.context, windows=WINDOWS)
    size = BATCH * count.context
    clocks = [size * clock.steps_to_head(of, BATCH, learning_rate=RATE) for of in (counts, without)]
    by_clock, by_null = (None if math.isinf(time) else round(time) for time in clocks)
    return {
        "tokens": len(tokens),
        "counts": {name: rounded(value) for name, value in counts._asdict().items()},
        "clock": by_clock,
        "null": by_null,
        "published": round(clock.published_tokens(size)),
        "ceiling": rounded(ceiling(torch.as_tensor(tokens), count.context)),
    }


RUNS = StoredRuns(predict, tuple(Count(text, CONTEXT) for text in TEXTS))
