"""The geometry of grokking (arXiv 2511.01938): norm minimisation on the zero-loss manifold.

Where the source is silent, a setting has its reason beside it.
"""

import math
from dataclasses import dataclass, replace

from emergence.presets import Preset

from .model import Activation


@dataclass(frozen=True)
class Toys:
    """§3: models of two or three weights, trained by gradient descent."""

    decays: tuple[float, ...] = (0.01, 0.1, 0.2)
    learning_rate: float = 0.1  # not stated; fits "about 10 steps" to a low loss (§3.1)
    steps: int = 2000  # four times the slowest of the slow phases
    distances: tuple[float, ...] = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)  # Theorem 4.14
    feet: tuple[float, ...] = (0.2, 0.5, 1.0, 2.0)  # x of the feet on the parabola
    radii: tuple[float, ...] = (1.0, 0.3, 0.1, 0.03)  # distance of the foot from the singular point


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
    thorough: bool = True  # with spectra of J J^T and random held inputs, half of the cost

    @property
    def activation(self) -> Activation:
        """sigma of the hidden units."""
        return Activation(self.sharpness)


@dataclass(frozen=True)
class Ladder:
    """Ours: the direction test at other settings, one changed at a time; a long run, stored.

    Every rung runs to the same clock, steps x learning rate x weight decay; the rung without
    decay has no clock. Only the base is measured thoroughly.
    """

    base: Direction = Direction(n_measured=16)
    sharpnesses: tuple[float, ...] = (10.0, 50.0, 250.0)
    weight_decays: tuple[float, ...] = (0.0, 2e-4, 4e-4)
    learning_rates: tuple[float, ...] = (0.5, 2.0)
    steps_without_decay: int = 84_000  # as many as the longest of the others
    seeds: tuple[int, ...] = (0, 1, 2)

    def rungs(self) -> dict[str, Direction]:
        """Settings by name, the base itself first."""
        base = replace(self.base, thorough=False)
        settings_by_name = {"base": self.base}
        for c in self.sharpnesses:
            settings_by_name[f"sharpness {c:g}"] = replace(base, sharpness=c)
        for decay in self.weight_decays:
            steps = (
                round(base.steps * base.weight_decay / decay) if decay else self.steps_without_decay
            )
            settings_by_name[f"weight decay {decay:g}"] = replace(
                base, weight_decay=decay, steps=steps
            )
        for rate in self.learning_rates:
            steps = round(base.steps * base.learning_rate / rate)
            settings_by_name[f"learning rate {rate:g}"] = replace(
                base, learning_rate=rate, steps=steps
            )
        return settings_by_name


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
class Moduli:
    """Ours: real training at several p, and its prediction at the same decay; stored."""

    moduli: tuple[int, ...] = (23, 37, 53, 97)
    clocks: tuple[float, ...] = (5.0, 2.5, 2.5, 2.5)  # the fewer numbers, the later
    real: RealTraining = RealTraining(decay=1.0)
    ridge_step: float = 1e-2
    seeds: tuple[int, ...] = (0, 1, 2)
    weak: RealTraining = RealTraining(decay=0.1, clock=2.0)  # at the two largest p
    weak_seeds: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class GrokkingSettings:
    """All experiments of the chapter."""

    toys: Toys = Toys()
    simulation: Simulation = Simulation()
    ladder: Ladder = Ladder()
    stride: int = 5  # of the one simulation that the chapter runs itself
    moduli: Moduli = Moduli()
    real: RealTraining = RealTraining()
    equal: RealTraining = RealTraining(decay=1.0, clock=2.5)  # large decay: ten times shorter
    slowed: RealTraining = RealTraining(decay=1.0, clock=2.5, slowdown=10.0)
    slowed_little: RealTraining = RealTraining(decay=1.0, clock=2.5, slowdown=3.0)


PRESET = {
    "paper": Preset(GrokkingSettings()),
    "smoke": Preset(
        GrokkingSettings(
            toys=Toys(steps=300),
            simulation=Simulation(
                modulus=7,
                hidden=48,
                steps=200,
                log_every=20,
                stride_from=100,
                embedding_std=7**-0.5,
            ),
            real=RealTraining(decay=0.3, clock=0.3, log_every=0.05),
            equal=RealTraining(decay=1.0, clock=0.3, log_every=0.05),
            slowed=RealTraining(decay=1.0, clock=0.3, log_every=0.05, slowdown=10.0),
        ),
        2,
    ),
}
