"""Settings of both trainings, §4's and §2's, with a reason wherever the paper is silent."""

from dataclasses import dataclass
from typing import Literal, get_args

from emergence.models import Mask, Windows
from emergence.subspace import NAMES
from emergence.tasks import Query

Data = Literal["gaussian", "orthonormal"]
Method = Literal["fast", "dense"]
Optimiser = Literal["adamw", "sgd"]


@dataclass(frozen=True)
class MinimalTraining:
    """Stochastic gradient descent of the disentangled transformer (§4, Apps. C, D).

    The loss is the mean over batch and dimensions. `trained` names the pseudo-parameters that
    may move; empty means all 28 D^2 weights. They start at zero, or where all weights are free
    at N(0, initial_scale^2); those `held` stay at a value of their own. Pairs come in `copies`
    (`tasks`), and layers see `windows` (`models`). `snapshots` are steps whose weights are kept.
    Training ends early once every run has had a batch loss of at most `until_loss`.
    """

    n_pairs: int
    dim: int
    batch_size: int
    steps: int
    learning_rate: float = 1.0
    data: Data = "gaussian"
    query: Query = "uniform"
    copies: int = 1
    mask: Mask = "strict"
    windows: Windows = (None, None)
    trained: tuple[str, ...] = ()
    snapshots: tuple[int, ...] = ()
    record_every: int = 1
    initial_scale: float = 0.0
    held: tuple[tuple[str, float], ...] = ()
    until_loss: float | None = None

    def __post_init__(self) -> None:
        if min(self.steps, self.record_every) < 1:
            raise ValueError(f"steps and record_every must be positive, got {self}")
        if self.data not in get_args(Data):
            raise ValueError(f"data must be one of {get_args(Data)}, got {self.data!r}")
        named = {*self.trained, *dict(self.held)}
        if unknown := named - set(NAMES):
            raise ValueError(f"no pseudo-parameter is called {sorted(unknown)[0]!r}")
        if both := set(self.trained) & set(dict(self.held)):
            raise ValueError(f"{sorted(both)[0]} cannot be both trained and held")
        if self.initial_scale < 0 or (self.initial_scale and self.trained):
            raise ValueError(
                "initial_scale must not be negative, and must be zero for constrained training"
            )
        if beyond := [step for step in self.snapshots if not 0 <= step <= self.steps]:
            raise ValueError(f"snapshot at step {beyond[0]}, but training has {self.steps} steps")


@dataclass(frozen=True)
class TokenTraining:
    """Training of the attention-only transformer on token pairs (§2, App. E).

    Stochastic gradient descent has neither momentum nor weight decay. Training ends early after a
    batch loss of at most `until_loss`.
    """

    dim: int = 2048
    vocabulary: int = 32
    block_size: int = 32
    n_pairs: int = 8
    batch_size: int = 512
    steps: int = 300
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    embedding_scale: float = 0.05  # decides whether 300 steps suffice: book/beyond/07_knock_in.md
    mask: Mask = "causal"
    optimiser: Optimiser = "adamw"
    until_loss: float | None = None

    def __post_init__(self) -> None:
        if self.optimiser not in get_args(Optimiser):
            raise ValueError(
                f"optimiser must be one of {get_args(Optimiser)}, got {self.optimiser!r}"
            )
