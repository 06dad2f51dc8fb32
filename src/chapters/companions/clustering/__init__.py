"""Clustering and alignment in modular addition with two-dimensional embeddings (2408.09414)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Training:
    """Full-batch AdamW on all pairs but those held out.

    N = 17 residues and 64 hidden units are the source's. The rest is ours: PyTorch's uniform
    weights, biases from zero, and small embeddings, so that what is seen at the end has formed
    in training. Weight decay acts on all parameters unless `embedding_decay` says another.
    """

    residues: int = 17
    hidden: int = 64
    held_out: float = 0.2
    epochs: int = 2000
    learning_rate: float = 0.01
    weight_decay: float = 1.0
    embedding_decay: float | None = None
    embedding_scale: float = 0.3
    hidden_bias: bool = True  # without, the biases of the hidden layer stay zero
    records: int = 20
    snapshots: tuple[int, ...] = ()


@dataclass(frozen=True)
class Simulation:
    """Descent of U by Adam from random places; rate and steps are ours, N the source's demo's."""

    residues: int = 17
    steps: int = 1500
    learning_rate: float = 0.02


@dataclass(frozen=True)
class Derived:
    """Descent of the derived energies by Adam, from the networks' own starts; all ours."""

    units: int = 64
    steps: int = 1500
    learning_rate: float = 0.02
