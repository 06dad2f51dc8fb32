"""The command of the clock: `python -m emergence.clock corpus.txt`."""

import argparse
import json
import math
import sys
from typing import Any

from ._counts import LEAST_WINDOWS, pulls
from ._limits import NATURAL, limits, published_tokens
from ._text import RARE, TOKENS, read_tokens
from ._times import steps_to_head

MOSTLY = 0.5  # tokens without a number of their own, of which nothing can be told
COUNTED = (
    "A window of {context} tokens: {frequency:.0%} of them occurred before in it, and"
    " {reliability:.1%} of these are followed as they were there,"
    " where a table of successors predicts {expected:.1%}."
)
PREDICTED = (
    "With {batch} windows a step and AdamW at the rate {rate:g} a two-layer network should form"
    " an induction head after about {steps:,.0f} steps, {tokens:,.0f} tokens."
)
AGAINST = "The text pulls against an induction head: a model trained on it should not form one."
UNSURE = (
    "The counts do not decide when, or whether, a model trained on this text forms an induction"
    " head: one half of the text gives {first}, the other {second}."
)
LATER = "Take the number as a lower estimate."
COUNT = 2**17  # tokens of all windows together
APART = 3.0  # how many times as late one half of a text may be as the other
LONGEST = 2048  # tokens of a window, whose pairs have to fit into the memory


def command(given: list[str] | None = None) -> int:
    """Print when training on a text would form an induction head (chapter The clock of a corpus).

    The estimate comes with what is known of its errors, and with a sentence for each way in which
    the text or the training is unlike those of the book. The words after the name of the command
    may be given. It returns 0, or 2 after an error, which a sentence on the error stream explains.
    """
    parser = argparse.ArgumentParser(
        "python -m emergence.clock",
        description="Predict when an induction head would form in a model trained on a text.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("file", help="a text in UTF-8, or - for the standard input")
    parser.add_argument(
        "--unit", choices=("words", "bytes"), default="words", help="what a token is"
    )
    parser.add_argument("--tokenizer", help="a tokenizer.json, whose tokens are counted instead")
    parser.add_argument("--context", type=int, default=128, help="the number of tokens in a window")
    parser.add_argument("--batch", type=int, default=8, help="the number of windows in a step")
    parser.add_argument("--rate", type=float, default=3e-3, help="the learning rate of AdamW")
    parser.add_argument("--json", action="store_true", help="print numbers instead of sentences")
    options = parser.parse_args(given)
    try:
        answer = answered(options)
    except (ValueError, OSError) as error:
        print(f"{error}.", file=sys.stderr)
        return 2
    text = json.dumps(answer, indent=1) if options.json else "\n".join(in_sentences(answer))
    print(text)
    return 0


def answered(options: argparse.Namespace) -> dict[str, Any]:
    """All numbers of an answer, in values of JSON; None stands for never."""
    if options.context > LONGEST:
        raise ValueError(f"windows of more than {LONGEST} tokens are not counted")
    tokens = read_tokens(options.file, options.unit, tokenizer=options.tokenizer)
    rare = float((tokens == RARE).mean())
    if rare > MOSTLY:
        raise ValueError(
            f"{rare:.0%} of the tokens are too rare to be told apart: count this text with"
            " --unit bytes or with another --tokenizer"
        )
    least, half = 4 * LEAST_WINDOWS * options.context, len(tokens) // 2
    if len(tokens) < least:
        raise ValueError(
            f"a context of {options.context} tokens needs a text of at least {least} tokens,"
            f" got {len(tokens)}"
        )
    windows = COUNT // max(options.context, 1)
    parts = tokens, tokens[:half], tokens[half:]
    counts = [pulls(part, options.context, windows=windows) for part in parts]
    times = [steps_to_head(pull, options.batch, learning_rate=options.rate) for pull in counts]
    steps, *by_halves = (None if math.isinf(time) else time for time in times)
    decided = max(times[1:]) < APART * min(times[1:]) or min(times) == math.inf
    size = options.batch * options.context
    return {
        "unit": f"tokens of {options.tokenizer}" if options.tokenizer else options.unit,
        "tokens_read": len(tokens),
        "rare": rare,
        "batch": options.batch,
        "rate": options.rate,
        "counts": counts[0]._asdict(),
        "decided": decided,  # else the halves of the text disagree
        "steps": steps,
        "steps_by_halves": by_halves,
        "tokens": steps and steps * size,
        "tokens_by_published_constant": published_tokens(size),
        "natural_trainings": NATURAL,
        "limits": limits(
            counts[0], options.batch, options.rate, rare=rare, cut=len(tokens) == TOKENS
        ),
    }


def in_sentences(answer: dict[str, Any]) -> list[str]:
    """The answer for people: counts, estimate, what is known of its errors, limits."""
    numbers = answer | answer["counts"]
    halves = [math.inf if time is None else time for time in answer["steps_by_halves"]]
    if not answer["decided"]:
        said = ["no head" if time == math.inf else f"{time:,.0f} steps" for time in halves]
        estimate = UNSURE.format(first=said[0], second=said[1])
    elif answer["steps"] is not None:
        estimate = f"{PREDICTED.format(**numbers)} {LATER}"
    else:
        estimate = AGAINST
    return [COUNTED.format(**numbers), estimate, *answer["limits"]]
