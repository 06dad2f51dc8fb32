"""The clock of a text, which predicts from counts alone when an induction head forms."""

from ._command import command
from ._counts import Pulls, pulls
from ._text import in_tokens, read_text
from ._times import steps_to_head, strength

__all__ = ["Pulls", "command", "in_tokens", "pulls", "read_text", "steps_to_head", "strength"]
