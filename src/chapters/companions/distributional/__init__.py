"""Distributional associations against in-context reasoning (Chen, Bruna, Bietti 2024)."""

from .settings import PRESET, Recipe, Settings

__all__ = ["PRESET", "Recipe", "Settings"]
