"""The clock of a text, which predicts from counts alone when an induction head forms."""

from ._counts import LEAST_WINDOWS, Pulls, pulls, steps_to_head
from ._limits import RATES, Said, limits, published_tokens
from ._text import RARE, TOKENS, read_tokens

__all__ = [
    "LEAST_WINDOWS",
    "RARE",
    "RATES",
    "TOKENS",
    "Pulls",
    "Said",
    "limits",
    "published_tokens",
    "pulls",
    "read_tokens",
    "steps_to_head",
]
