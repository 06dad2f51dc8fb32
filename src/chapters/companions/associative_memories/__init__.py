"""Weights as associative memories: what one gradient step stores, and how much fits.

`lemma` is the closed form of a gradient step, `model` has linear and MLP networks, `training` their
training; `capacity` searches for the most pairs they store, `limits` predicts it.
"""

from .settings import PRESET, Settings

__all__ = ["PRESET", "Settings"]
