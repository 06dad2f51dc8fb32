"""Distributional associations against in-context reasoning (Chen, Bruna, Bietti 2024)."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Recipe:
    """The task, network and descent; the source's code where a comment does not say otherwise."""

    alpha: float = 0.5  # probability of the noise token after the trigger
    length: int = 256  # T
    dim: int = 256  # d
    width: int = 1024  # m, of the feed-forward layers
    batch_size: int = 64  # ours; the source's is 512
    steps: int = 1200  # ours; the source's are 5000
    learning_rate: float = 0.03
    momentum: float = 0.9
    weight_decay: float = 1e-4
    precision: Literal["float32", "bfloat16"] = "bfloat16"  # of products while training; ours
    shares: tuple[float, ...] = (0.0, 0.1, 0.2)  # rho, singular values kept
    every: int = 100  # steps between measurements; up to the first such, a fifth of it; ours
    n_tested: int = 128  # fresh sequences; the source's are 512


@dataclass(frozen=True)
class DistributionalSettings:
    """The toy of one step of descent; sizes are ours."""

    alpha: float = 0.5  # probability of the noise token after the trigger, the source's
    toy_tokens: tuple[int, ...] = (256, 512, 1024, 2048, 4096)  # N
    toy_length: int = 8  # T, fixed while N grows
    toy_trials: int = 1000  # fresh samples and test sequences for each N
    certainty: float = 0.9  # how often the margin must be positive
