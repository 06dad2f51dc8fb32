"""What is known of the errors of the clock: the book's trainings, and a rival."""

import json
from pathlib import Path
from typing import Literal

from ._counts import Pulls
from ._text import TOKENS

NOTABLE = 0.05  # tokens without a number of their own
PUBLISHED = 10**5.7  # tokens over the root of the tokens of a step: Aoyama and others, 2511.16893
# How right the clock was about the book's trainings, as chapters.beyond.clock_of_a_corpus.rates
# computes it from the stored ones; a test compares both.
# They lie with the command, for no count and no training depends on them.
FILE = Path(__file__).parents[1] / "command" / "rates.json"
RATES = json.loads(FILE.read_text(encoding="utf-8"))
Said = Literal["yes", "no", "undecided"]
YES = (
    "Where it said so of natural texts, a head formed in {formed} of the book's {number} training"
    " runs, {ratios[0]:.1f} to {ratios[1]:.1f} times as late as predicted, {median:.1f} times in"
    " the median. In {overdue} runs none formed although it was predicted within their budget,"
    " which was up to {longest:.0f} times the predicted steps."
    " The number is therefore no prediction for a natural text: it was wrong by a factor of"
    " {wrong[0]:.1f} on average, and the mean of the other texts, which knows nothing of the text,"
    " by {wrong[1]:.1f}."
)
MADE_UP = "On made-up texts a head formed in {formed} of {number} such runs."
NO = (
    "Where it said so, a head formed after all in {formed} of the book's {number} training runs,"
    " none of them on a natural text."
)
TRAINED = {
    "context": ("windows of {} tokens", 32, 256),
    "batch_size": ("batches of {} windows", 4, 64),
    "learning_rate": ("a learning rate of {:g}", 2e-3, 3e-3),
    "vocabulary": ("{} different tokens", 64, 1024),
}


def published_tokens(batch_tokens: int) -> float:
    """Tokens to a head by the constant of Aoyama and others (chapter The clock of a corpus).

    Args:
        batch_tokens: tokens of a step, B C, >= 1.

    Returns:
        Tokens of training, 10^5.7 times the root of those of a step.

    Raises:
        ValueError: if a step has less than one token.
    """
    if batch_tokens < 1:
        raise ValueError(f"a step has at least one token, got {batch_tokens}")
    return float(PUBLISHED * batch_tokens**0.5)


def limits(
    counts: Pulls, batch_size: int, learning_rate: float, *, answer: Said, rare: float, cut: bool
) -> list[str]:
    """Sentences on the errors of an estimate (chapter The clock of a corpus).

    Args:
        counts: what `clock.pulls` gives.
        batch_size: windows of a step, >= 1.
        learning_rate: of AdamW, > 0.
        answer: whether the clock expects a head, or its counts do not decide.
        rare: share of tokens that are too rare to be told apart, 0 to 1.
        cut: whether only the beginning of the text was read.

    Returns:
        How often such an answer was right, the published constant, and a sentence for each limit
        that the text exceeds.
    """
    size = batch_size * counts.context
    said = [
        *_record(answer),
        "The constant of Aoyama and others, which does not depend on the text, says"
        f" {published_tokens(size) / 1e6:.1f} million tokens.",
    ]
    if rare > NOTABLE:
        said.append(f"{rare:.0%} of the tokens are too rare to be told apart; they count as one.")
    if cut:
        said.append(f"Only the first {TOKENS:,} tokens were read.")
    settings = counts._asdict() | {"batch_size": batch_size, "learning_rate": learning_rate}
    for name, (words, least, most) in TRAINED.items():
        if not least <= settings[name] <= most:
            here = words.format(settings[name])
            said.append(f"The book has trained with {least:g} to {most:g}, and not with {here}.")
    return said


def _record(answer: Said) -> list[str]:
    """How often such an answer of the clock was right, by kind of text."""
    if answer == "yes":
        return [YES.format(**RATES["natural"]), MADE_UP.format(**RATES["made_up"])]
    return [NO.format(**RATES["no"])] if answer == "no" else []
