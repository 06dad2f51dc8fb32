"""emergence clock: when a model trained on a text would form an induction head."""

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import click
import numpy as np

from emergence.clock import (
    LEAST_WINDOWS,
    RARE,
    RATES,
    TOKENS,
    Pulls,
    Said,
    limits,
    published_tokens,
    pulls,
    read_tokens,
    steps_to_head,
)

from ._train import bar

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
OTHERWISE = "Counted in {other}, the same text gives {said} instead of {own}: units disagree."
LATER = "Take the number as a lower estimate."
UNITS = "words", "bytes"
COUNT = 2**17  # tokens of all windows together
APART = 3.0  # how many times as late one half of a text may be as the other
PIECE, COPIED = 2**20, 2**28  # bytes of a pipe that are read at once, and at most
LONGEST = 2048  # tokens of a window, whose pairs have to fit into the memory


@click.command()
@click.argument("file")
@click.option("--unit", type=click.Choice(["words", "bytes"]), default="words", show_default=True,
              help="what a token is")  # fmt: skip
@click.option("--tokenizer", type=click.Path(exists=True, dir_okay=False),
              help="a tokenizer.json, whose tokens are counted instead")  # fmt: skip
@click.option("--context", type=click.IntRange(4, LONGEST), default=128, show_default=True,
              help="the number of tokens in a window")  # fmt: skip
@click.option("--batch", type=click.IntRange(1, 2**20), default=8, show_default=True,
              help="the number of windows in a step")  # fmt: skip
@click.option("--rate", type=click.FloatRange(0, 1, min_open=True), default=3e-3,
              show_default=True, help="the learning rate of AdamW")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="print numbers instead of sentences")
def clock(*, as_json: bool, **given: Any) -> None:
    """Predict when an induction head would form in a model trained on FILE.

    FILE is a text in UTF-8, which may come through a pipe, or - for the standard input. The answer
    comes with how often such answers were right, with what the text says in other units, and with
    a sentence for each way in which the text or the training is unlike those of the book.
    """
    if math.isnan(given["rate"]):
        raise ValueError("the learning rate is no number")
    with bar():
        answer = answered(**given)
    click.echo(json.dumps(answer, indent=1) if as_json else "\n".join(in_sentences(answer)))


def answered(
    file: str, unit: str, tokenizer: str | None, context: int, batch: int, rate: float
) -> dict[str, Any]:
    """All numbers of an answer, in values of JSON; None stands for never."""

    def counted(tokens: np.ndarray, name: str) -> tuple[Pulls, float | None]:
        counts = pulls(tokens, context, windows=COUNT // context, label=f"counting {name}")
        steps = steps_to_head(counts, batch, learning_rate=rate)
        return counts, None if math.isinf(steps) else steps

    others = {}
    with _readable(file) as path:
        name = "the standard input" if file == "-" else file
        tokens = read_tokens(path, unit, tokenizer=tokenizer, name=name)
        rare = _checked(tokens, context)
        for other in UNITS:
            if tokenizer or other != unit:
                in_other = read_tokens(path, other)
                with suppress(ValueError):  # too short, or all words are rare
                    _checked(in_other, context)
                    others[other] = counted(in_other, f"the text in {other}")[1]
    counts, steps = counted(tokens, "the text")
    half = len(tokens) // 2
    parts = {"its first half": tokens[:half], "the other": tokens[half:]}
    by_halves = [counted(part, name)[1] for name, part in parts.items()]
    decided = _alike(*by_halves) or {steps, *by_halves} == {None}
    said: Said = "undecided" if not decided else "no" if steps is None else "yes"
    size = batch * context
    return {
        "unit": f"tokens of {tokenizer}" if tokenizer else unit,
        "tokens_read": len(tokens),
        "rare": rare,
        "batch": batch,
        "rate": rate,
        "counts": counts._asdict(),
        "said": said,  # undecided: the halves of the text disagree
        "steps": steps,
        "steps_by_halves": by_halves,
        "steps_in_other_units": others,
        "tokens": steps and steps * size,
        "tokens_by_published_constant": published_tokens(size),
        "trainings": RATES,
        "limits": limits(counts, batch, rate, answer=said, rare=rare, cut=len(tokens) == TOKENS),
    }


def _alike(one: float | None, other: float | None) -> bool:
    """Whether two times, of which None is never, are no more than a factor apart."""
    return one is not None and other is not None and max(one, other) < APART * min(one, other)


def _checked(tokens: np.ndarray, context: int) -> float:
    """The share of tokens too rare to be told apart; ValueError for a text of no use."""
    rare, least = float((tokens == RARE).mean()), 4 * LEAST_WINDOWS * context
    if rare > MOSTLY:
        raise ValueError(
            f"{rare:.0%} of the tokens are too rare to be told apart: count this text with"
            " --unit bytes or with another --tokenizer"
        )
    if len(tokens) < least:
        raise ValueError(
            f"a context of {context} tokens needs a text of at least {least} tokens,"
            f" got {len(tokens)}"
        )
    return rare


@contextmanager
def _readable(file: str) -> Iterator[Path]:
    """A path from which a text can be read twice: of what comes through a pipe, that of a copy."""
    source = Path(file)
    if file != "-" and (source.is_file() or source.is_dir() or not source.exists()):
        yield source
        return
    opened = nullcontext(sys.stdin.buffer) if file == "-" else source.open("rb")
    with opened as stream, NamedTemporaryFile() as copy:
        for piece in islice(iter(partial(stream.read, PIECE), b""), COPIED // PIECE):
            copy.write(piece)
        copy.flush()
        yield Path(copy.name)


def in_sentences(answer: dict[str, Any]) -> list[str]:
    """The answer for people: counts, estimate, other units, what is known of its errors, limits."""
    numbers, own = answer | answer["counts"], answer["steps"]
    first, second = map(_in_words, answer["steps_by_halves"])
    estimates = {"yes": f"{PREDICTED} {LATER}", "no": AGAINST, "undecided": UNSURE}
    estimate = estimates[answer["said"]].format(**numbers, first=first, second=second)
    apart = [
        OTHERWISE.format(other=unit, said=_in_words(steps), own=_in_words(own))
        for unit, steps in answer["steps_in_other_units"].items()
        if not _alike(own, steps) and own != steps
    ]
    return [COUNTED.format(**numbers), estimate, *apart, *answer["limits"]]


def _in_words(steps: float | None) -> str:
    return "no head" if steps is None else f"{steps:,.0f} steps"
