"""Curricula: a time that no choice of queries can beat, and the times that some choices take.

Training of all weights with a curriculum: the first pair is asked for ahead of the others.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from scipy.integrate import solve_ivp
from torch import Tensor

from emergence import tasks, theory
from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.memo import resumable
from emergence.theory import Rates, area, limits
from emergence.training import Full, MinimalTraining, minimal_step

Queries = Float[np.ndarray, " pairs"]
Phase = tuple[float, Queries]  # for how long, in flow time, and the probability of each pair
FAR = 12.0  # of a beta that diverges: it does so within e^-12 of this time
EARLY = 8  # pairs that an adversary asks for: none pushes harder than the first ones


def least_time(n_pairs: int, rates: Rates | None = None) -> float:
    """A flow time before which alpha cannot emerge, whatever is asked for and when (this book).

    By theorem "Any choice of queries", for pairs that come once: the time at which its upper
    solution has alpha = 1/2. Raises ValueError unless alpha and beta have one rate and gamma this
    rate or a smaller one.
    """
    rho, of_beta, of_gamma = rates or Rates()
    if rho != of_beta or not 0 < of_gamma <= rho:
        raise ValueError(f"the theorem needs one rate of alpha and beta, >= gamma's, got {rates}")
    excess = 17 / n_pairs * (1 + np.sum(1 / np.arange(1, n_pairs)))
    return float(limits.gauss(2.0) * n_pairs / math.sqrt((1 + excess) * rho * of_gamma))


def best_limits() -> tuple[float, float]:
    """Two numbers between which the best T_alpha/N lies for infinitely many pairs, at unit rates.

    In the upper solution beta and gamma move as they do where the first pair alone is asked for,
    and until alpha is 1/2 no other label holds more than `held` of its item. The first number is
    the time over N at which alpha is 1/2 in the upper solution, and the second the one at which
    beta is `FAR`: then queries for the second pair raise alpha to 1/2 in next to no time.
    """
    held = math.exp(0.5) / (2 + math.exp(0.5))

    def gradient(_alpha: float, beta: float, gamma: float) -> tuple[float, float, float]:
        by_alpha = gamma * beta * held * (1 - held) * math.exp(held * beta)
        return -by_alpha, -gamma * math.exp(beta), gamma - math.exp(beta)

    upper = theory.Landscape(lambda *_: 0.0, gradient, pairs=1)
    times = theory.times_in(upper, threshold=(0.5, FAR, 0.5), end=2.0)
    return times.alpha, times.beta


def time_of(phases: Sequence[Phase]) -> float:
    """The flow time at which alpha is 1/2 under one mixture of queries after another."""
    begun, state = 0.0, np.zeros(3)
    for duration, chances in phases:
        gradient = area.expected_loss(np.arange(len(chances)), chances).gradient
        run = solve_ivp(
            lambda _t, state, gradient=gradient: [-slope for slope in gradient(*state)],
            (0.0, duration), state, method="LSODA", events=theory.Crossing((0,), 0.5, True),
            rtol=1e-9, atol=1e-12,
        )  # fmt: skip
        if not run.success:
            raise ArithmeticError(f"the flow stopped: {run.message}")
        begun, state = begun + float(run.t[-1]), run.y[:, -1]
        if run.status == 1:
            return begun
    return math.inf


def adversary_curriculum(n_pairs: int, draw: np.random.Generator) -> list[Phase]:
    """An adversary's curriculum: up to three mixtures of early pairs, and a last one for long."""
    durations = [*draw.uniform(0, 2 * n_pairs, draw.integers(1, 4)), 20.0 * n_pairs]
    chances = draw.dirichlet(np.full(EARLY, 0.3), len(durations))
    padded = np.pad(chances, ((0, 0), (0, n_pairs - EARLY)))
    return list(zip(durations, padded, strict=True))


@dataclass(frozen=True)
class Curriculum:
    """Gradient descent of all 28 D^2 weights on Gaussian data, as in §4 except for the queries."""

    n_pairs: int
    dim: int
    batch_size: int
    ahead: int  # steps at which the query asks for the first pair; for any pair afterwards
    steps: int  # in all


@resumable
def train_curriculum(
    settings: Curriculum, seeds: Sequence[int], *, device: torch.device, label: str = "training"
) -> Float[np.ndarray, "seeds steps"]:
    """Batch losses before each step, one run per seed; NaN while queries ask for the first pair."""
    streams = [generator(seed, device) for seed in seeds]
    n, dim = settings.n_pairs, settings.dim
    network = Full(MinimalTraining(n, dim, settings.batch_size, settings.steps), "fast")
    weights = network.start(streams, torch.float32)
    sizes = settings.batch_size, n, dim
    rows: list[tuple[int, Tensor]] = []  # step, loss

    def step(recorded: bool, ahead: bool) -> tuple[Tensor, tuple[Tensor]]:
        inputs, target, _ = tasks.gaussian_pairs(*sizes, generator=streams, dtype=torch.float32)
        if ahead:
            inputs[..., -1, :dim] = inputs[..., 0, :dim]
            target = inputs[..., 1, :dim].clone()
        loss, gradient = minimal_step(network, weights, inputs, target)
        network.descend(weights, gradient)
        return loss, (torch.full_like(loss, torch.nan) if ahead else loss,)

    loop.descend(
        settings.steps,
        label,
        step,
        rows=rows,
        phase=lambda at: at < settings.ahead,
        weights=tuple(weights),
        streams=tuple(streams),
    )
    return torch.stack([loss.to(device) for _, loss in rows], dim=1).cpu().numpy()
