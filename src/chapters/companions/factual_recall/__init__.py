"""Factual recall: a subject and a relation among noise, and the answer to be known by heart.

`task` makes the sequences, `linear` trains linear attention and predicts when it learns what,
`model` is the softmax transformer with an MLP, `trials` trains it as the source does, `cells` asks
for trials until it is known how much fits, `stored` keeps them, and `capacity` reads laws off them.
"""

from .settings import PRESET, Settings

__all__ = ["PRESET", "Settings"]
