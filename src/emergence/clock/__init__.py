"""The clock of a text, which predicts from counts alone when an induction head forms."""

from ._command import command
from ._counts import Pulls, pulls
from ._limits import published_tokens
from ._text import in_tokens, read_tokens
from ._times import steps_to_head, strength

__all__ = [
    "Pulls",
    "command",
    "in_tokens",
    "published_tokens",
    "pulls",
    "read_tokens",
    "steps_to_head",
    "strength",
]
