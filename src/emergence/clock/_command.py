"""The command of the clock: `python -m emergence.clock corpus.txt`."""

import argparse
import math
import sys
from pathlib import Path

from ._counts import pulls
from ._text import in_tokens, read_text
from ._times import steps_to_head

SENTENCES = (
    "A window of {context} tokens: {frequency:.0%} of them occurred before in it, and"
    " {reliability:.0%} of these are followed as they were there,"
    " where a table of successors foretells {expected:.0%}.",
    "With {batch} windows a step and AdamW at the rate {rate:g} a two-layer network should form"
    " an induction head after about {steps:,.0f} steps, {tokens:,.0f} tokens.",
    "The text pulls against an induction head: it should not form one.",
)


def command(given: list[str] | None = None) -> int:
    """Print when training on a text would form an induction head (chapter The clock of a corpus).

    Args:
        given: the words after `python -m emergence.clock`, a file and options; None for those of
            this process.

    Returns:
        0, or 2 after an error, which one sentence on the error stream explains.

    Example:
        >>> clock.command(["no such file"])
        2
    """
    parser = argparse.ArgumentParser(
        "python -m emergence.clock",
        description="Predict when an induction head would form in a model trained on a text.",
    )
    parser.add_argument("file", type=Path, help="a text in UTF-8")
    parser.add_argument("--unit", choices=("words", "bytes"), default="words")
    parser.add_argument("--context", type=int, default=128, help="the number of tokens in a window")
    parser.add_argument("--batch", type=int, default=8, help="the number of windows in a step")
    parser.add_argument("--rate", type=float, default=3e-3, help="the learning rate of AdamW")
    asked = parser.parse_args(given)
    try:
        found = pulls(in_tokens(read_text(asked.file), asked.unit), asked.context)
        steps = steps_to_head(found, asked.batch, learning_rate=asked.rate)
    except ValueError as error:
        print(f"{error}.", file=sys.stderr)
        return 2
    numbers = found._asdict() | {"batch": asked.batch, "rate": asked.rate, "steps": steps}
    print(SENTENCES[0].format(**numbers))
    whole = SENTENCES[2] if math.isinf(steps) else SENTENCES[1]
    print(whole.format(**numbers, tokens=steps * asked.batch * asked.context))
    return 0
