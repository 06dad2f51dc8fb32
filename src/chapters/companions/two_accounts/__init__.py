"""Two accounts of one circuit: pseudo-parameters and associative memories, read side by side."""

from .settings import PRESET, Settings

__all__ = ["PRESET", "Settings"]
