"""emergence clock: when a model trained on a text would form an induction head."""

import json
import math
from typing import Any

import click

from emergence.clock import (
    LEAST_WINDOWS,
    NATURAL,
    RARE,
    TOKENS,
    limits,
    published_tokens,
    pulls,
    read_tokens,
    steps_to_head,
)

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


@click.command()
@click.argument("file")
@click.option("--unit", type=click.Choice(["words", "bytes"]), default="words", show_default=True,
              help="what a token is")  # fmt: skip
@click.option("--tokenizer", help="a tokenizer.json, whose tokens are counted instead")
@click.option("--context", type=click.IntRange(1, LONGEST), default=128, show_default=True,
              help="the number of tokens in a window")  # fmt: skip
@click.option("--batch", type=click.IntRange(1), default=8, show_default=True,
              help="the number of windows in a step")  # fmt: skip
@click.option("--rate", type=click.FloatRange(0, min_open=True), default=3e-3, show_default=True,
              help="the learning rate of AdamW")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="print numbers instead of sentences")
def clock(*, as_json: bool, **given: Any) -> None:
    """Predict when an induction head would form in a model trained on FILE.

    FILE is a text in UTF-8, or - for the standard input. The estimate comes with what is known of
    its errors, and with a sentence for each way in which the text or the training is unlike those
    of the book.
    """
    answer = answered(**given)
    click.echo(json.dumps(answer, indent=1) if as_json else "\n".join(in_sentences(answer)))


def answered(
    file: str, unit: str, tokenizer: str | None, context: int, batch: int, rate: float
) -> dict[str, Any]:
    """All numbers of an answer, in values of JSON; None stands for never."""
    tokens = read_tokens(file, unit, tokenizer=tokenizer)
    rare = float((tokens == RARE).mean())
    if rare > MOSTLY:
        raise ValueError(
            f"{rare:.0%} of the tokens are too rare to be told apart: count this text with"
            " --unit bytes or with another --tokenizer"
        )
    least, half = 4 * LEAST_WINDOWS * context, len(tokens) // 2
    if len(tokens) < least:
        raise ValueError(
            f"a context of {context} tokens needs a text of at least {least} tokens,"
            f" got {len(tokens)}"
        )
    windows = COUNT // context
    parts = tokens, tokens[:half], tokens[half:]
    counts = [pulls(part, context, windows=windows) for part in parts]
    times = [steps_to_head(pull, batch, learning_rate=rate) for pull in counts]
    steps, *by_halves = (None if math.isinf(time) else time for time in times)
    decided = max(times[1:]) < APART * min(times[1:]) or min(times) == math.inf
    size = batch * context
    return {
        "unit": f"tokens of {tokenizer}" if tokenizer else unit,
        "tokens_read": len(tokens),
        "rare": rare,
        "batch": batch,
        "rate": rate,
        "counts": counts[0]._asdict(),
        "decided": decided,  # else the halves of the text disagree
        "steps": steps,
        "steps_by_halves": by_halves,
        "tokens": steps and steps * size,
        "tokens_by_published_constant": published_tokens(size),
        "natural_trainings": NATURAL,
        "limits": limits(counts[0], batch, rate, rare=rare, cut=len(tokens) == TOKENS),
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
