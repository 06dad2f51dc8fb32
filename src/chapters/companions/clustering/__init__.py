"""Clustering and alignment in modular addition with two-dimensional embeddings (2408.09414)."""

from dataclasses import dataclass, field, replace
from typing import Any


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


@dataclass(frozen=True)
class Clustering:
    """Networks at several weight decays, particles at several mixes, and what is held back.

    Every arm starts from the same networks, one network per seed.
    """

    training: Training = field(default_factory=Training)
    simulation: Simulation = field(default_factory=Simulation)
    weight_decays: tuple[float, ...] = (0.0, 0.1, 0.3, 1.0)
    scales: tuple[float, ...] = (0.1,)  # of the first embeddings, beside the chosen one
    rates: tuple[float, ...] = (0.003,)  # of learning, likewise
    longer: int = 2  # times the epochs, likewise
    derived: Derived = field(default_factory=Derived)
    beta: float = 1.0  # biases over weights of the derived particles' units, in units of the rms
    ridge: float = 0.1  # of their readout where there are biases
    bare_ridge: float = 0.3  # and where there are none
    # mix, width of the energy as it stands, and the mixes with a core
    plain: tuple[tuple[float, float], ...] = ((0.0, 0.5), (1.0, 0.5))
    mixes: tuple[float, ...] = (0.5, 1.0)
    width: float = 0.5  # in units of the embeddings' rms, as the core
    core: float = 0.3  # twice the radius at which markers count as one
    snapshots: tuple[int, ...] = (0, 10, 20, 50, 100, 200, 500, 1000)

    def arm(self, weight_decay: float, **changes: Any) -> Training:
        """A training of the chapter."""
        reached = tuple(epoch for epoch in self.snapshots if epoch < self.training.epochs)
        return replace(self.training, weight_decay=weight_decay, snapshots=reached, **changes)
