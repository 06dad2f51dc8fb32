"""Birth of a transformer: a head that learns bigrams in context (Bietti et al. 2023)."""

from .settings import PRESET, Settings

__all__ = ["PRESET", "Settings"]
