"""What is predicted of trainings on long natural texts, in data/natural_predictions.json.

The file was committed before the first of these trainings.
"""

import math
from typing import Any

import torch

from emergence import clock
from emergence.running.records import StoredRuns

from .corpora import SOURCES, Natural, Synthetic, Text, null, text_tokens
from .counted import Count, rounded
from .network import ceiling

CONTEXT, BATCH, RATE = 128, 8, 2e-3  # of the trainings
STRETCHES, STRETCH = 128, 2**16  # tokens that are counted, evenly spread over a text
WINDOWS = 1024  # of these
# A made-up text stands before the natural ones: on it a head is certain.
TEXTS: tuple[Text, ...] = (
    Synthetic(256, 0.5, 0.8),
    *(Natural(name, vocabulary) for vocabulary in (256, 1024) for name in SOURCES),
)


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
