"""Distributional associations against in-context reasoning (Chen, Bruna, Bietti 2024)."""

from .settings import PRESET, Settings

__all__ = ["PRESET", "Settings"]
