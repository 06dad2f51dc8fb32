"""Factual recall: a subject and a relation among noise, and the answer to be known by heart.

`task` makes the sequences, `linear` trains linear attention and predicts when it learns what,
`model` is the softmax transformer with an MLP, `trials` trains it as the source does, and
`capacity` names the trials that are stored and reads laws off them.

Values are those of the code of Nichani and others (2024); a comment says where ours differ.
"""

from dataclasses import dataclass, field

from .model import Facts


@dataclass(frozen=True)
class FactualRecallSettings:
    """Of sequential learning; `trials` has those of capacity."""

    facts: Facts = field(default_factory=Facts)
    alpha: float = 1e-5  # every initial weight
    learning_rate: float = 0.1
    batch_size: int = 1024
    steps: int = 6144  # source: 8192, of which the last quarter shows nothing new
    every: int = 64
    test_size: int = 4096  # source: 65536
