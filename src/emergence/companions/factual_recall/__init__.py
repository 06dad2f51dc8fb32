"""Factual recall: a subject and a relation among noise, and the answer to be known by heart.

`task` makes the sequences, `linear` trains linear attention and predicts when it learns what,
`model` is the softmax transformer with an MLP, `capacity` counts the facts it stores.
"""

from .settings import PRESET, Settings

__all__ = ["PRESET", "Settings"]
