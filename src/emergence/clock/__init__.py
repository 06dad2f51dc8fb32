"""The clock of a text, which predicts from counts alone when an induction head forms."""

from ._counts import Pulls, pulls
from ._limits import published_tokens
from ._text import read_tokens
from ._times import steps_to_head

__all__ = ["Pulls", "published_tokens", "pulls", "read_tokens", "steps_to_head"]
