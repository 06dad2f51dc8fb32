"""The geometry of grokking (arXiv 2511.01938): norm minimisation on the zero-loss manifold.

Where the source is silent, a setting has its reason beside it.
"""

import math
from dataclasses import dataclass, replace

from .model import Activation

FIRST_SEED = 0  # of all stored runs


@dataclass(frozen=True)
class Direction:
    """§4.6, App. D: training steps against the direction that the theory predicts."""

    modulus: int = 11
    hidden: int = 128
    n_test: int = 7
    learning_rate: float = 1.0
    weight_decay: float = 1e-4  # as torch.optim.SGD takes it: theta is added, not 2 theta
    sharpness: float = math.inf  # c of the activation z Phi(c z); the source has ReLU
    window: int = 10  # an update is the change over this many steps
    switch_window: int = 100  # ours: an input that switches within it is at a kink; 20, 400 agree
    pull_steps: int = 100
    momentum: float = 0.9  # of the pull alone
    steps: int = 42_000  # not stated; all held-out pairs are known by then in pilots
    n_measured: int = 36  # evenly spaced in log time, so that the early stages are seen
    single: bool = True  # train in single precision, measure in double
    thorough: bool = True  # with random inputs held, for comparison

    @property
    def activation(self) -> Activation:
        return Activation(self.sharpness)


@dataclass(frozen=True)
class Ladder:
    """Ours: the direction test at other activations, and without decay; a long run, stored.

    Only the base is measured thoroughly.
    """

    base: Direction = Direction(n_measured=16)
    sharpnesses: tuple[float, ...] = (10.0, 50.0, 250.0)
    steps_without_decay: int = 84_000  # twice as many
    seeds: tuple[int, ...] = tuple(range(FIRST_SEED, FIRST_SEED + 3))

    def rungs(self) -> dict[str, Direction]:
        """Settings by name, the base itself first."""
        base, steps = replace(self.base, thorough=False), self.steps_without_decay
        return {
            "base": self.base,
            **{f"sharpness {c:g}": replace(base, sharpness=c) for c in self.sharpnesses},
            "weight decay 0": replace(base, weight_decay=0.0, steps=steps),
        }


@dataclass(frozen=True)
class Simulation:
    """§7: the first layer of a two-layer network under its predicted dynamics."""

    modulus: int = 37
    hidden: int = 512
    train_share: float = 0.7
    embedding_std: float = 37**-0.5  # N(0, p^(-1/2)) read as a standard deviation
    step: float = 1e-3
    steps: int = 5000
    log_every: int = 100
    stride: int = 1  # steps are so many times larger once the steep start is over
    stride_from: int = 500  # step from which they are; the source has no such thing
    ridge_step: float = 5e-3  # a finite weight decay has no steep start: larger steps suffice


@dataclass(frozen=True)
class RealTraining:
    """Ours: the network of §7 trained by gradient descent, which the source does not show."""

    decay: float = 0.1  # lambda; much smaller ones need millions of steps
    learning_rate: float = 3e-4  # of the sum of squares; the largest that stays stable
    momentum: float = 0.9  # ten times as far in as many steps
    clock: float = 3.0  # 2 lambda t at the end
    slowdown: float = 1.0  # of the first layer: Theorem 5.1 takes the second to be faster
    log_every: float = 0.05  # of the clock


@dataclass(frozen=True)
class GrokkingSettings:
    """All experiments of the chapter."""

    simulation: Simulation = Simulation()
    ladder: Ladder = Ladder()
    stride: int = 5  # of the one simulation that the chapter runs itself
    real: RealTraining = RealTraining()
    equal: RealTraining = RealTraining(decay=1.0, clock=2.5)  # large decay: ten times shorter
    slowed: RealTraining = RealTraining(decay=1.0, clock=2.5, slowdown=10.0)
    slowed_little: RealTraining = RealTraining(decay=1.0, clock=2.5, slowdown=3.0)
