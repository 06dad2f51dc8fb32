"""The query asks for any pair: sizes of the flow and of training on data.

The flow of weak attention ends where the conjecture on the collapse says. With gamma at 1 and every
total of attention at 2N, on the clock t/N^2, the sums over q run over w = h/(q + h), h = e^alpha/2:
beta' = sum of w e^(beta w), less 1/2, and alpha' = beta times the sum of w (1 - w) e^(beta w).
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from emergence.presets import preset
from emergence.subspace import INDUCTION_HEAD
from emergence.theory import Crossing
from emergence.theory.laws import uniform_excess
from emergence.training import MinimalTraining
from running.memo import kept


@dataclass(frozen=True)
class UniformQueries:
    """Beyond the paper: the query asks for any pair; the flow, and the three scalars on data."""

    flow_pairs: tuple[int, ...] = tuple(2**k for k in range(3, 14))
    limit_pairs: tuple[int, ...] = tuple(2**k for k in range(3, 24))  # of the limiting flow
    checked_pairs: tuple[int, ...] = (1, 2, 5, 12)
    sampled_pairs: tuple[int, ...] = (4, 8, 16, 32)
    dim: int = 64
    batch_size: int = 64
    far: int = 1024  # N from which the law is judged
    step_pairs: tuple[int, ...] = (2**8, 2**12, 2**16)  # where the error of the speeds is taken
    least_pairs: tuple[int, ...] = tuple(range(32, 193, 4))  # around the least T log N/N^2
    runaway_pairs: tuple[int, ...] = tuple(2**k for k in range(10, 17, 2))  # of the run-away time
    place_pairs: int = 64  # N where the loss is followed place by place

    def step_time(self, n_pairs: int) -> float:
        """The flow time of one step: gamma needs N, so that sixteen steps make one."""
        return n_pairs / 16

    def training(self, n_pairs: int, end: float) -> MinimalTraining:
        """The three scalars on orthonormal data up to this flow time."""
        return MinimalTraining(
            n_pairs,
            self.dim,
            self.batch_size,
            int(end / self.step_time(n_pairs)) + 1,
            learning_rate=self.step_time(n_pairs) * self.dim**2,
            data="orthonormal",
            query="uniform",
            trained=INDUCTION_HEAD,
        )


PRESET = preset(
    paper=UniformQueries(),
    smoke=UniformQueries(
        flow_pairs=(4, 8, 16, 32, 64, 128),
        limit_pairs=(4, 8, 16, 32, 64, 128),
        checked_pairs=(1, 3),
        sampled_pairs=(4,),
        dim=8,
        batch_size=32,
        far=32,
        step_pairs=(2**4, 2**8),
        least_pairs=(32, 64, 128),
        runaway_pairs=(64, 256, 1024),
        place_pairs=8,
    ),
)


@kept
def uniform_times(n_pairs: float | int, threshold: float = 0.5) -> tuple[float, float]:
    """T_alpha and T_beta under uniform queries from the limiting flow, to an error near N log N.

    On the clock t/N^2 and with gamma at 1 after a time of N,
    beta' = h log N + first excess, alpha' = beta (h log N + second excess), h = e^alpha/2.
    """
    size = math.log(n_pairs)

    def velocity(_t, state):
        half = math.exp(state[0]) / 2
        first, second = uniform_excess(half, state[1])
        return [state[1] * (half * size + second), half * size + first]

    solution = solve_ivp(
        velocity, (0, 100), (0.0, 0.0),
        events=(Crossing((0,), threshold, True), Crossing((1,), threshold, False)),
        rtol=1e-10, atol=1e-12, method="DOP853",
    )  # fmt: skip
    t_alpha, t_beta = (float(n_pairs**2 * t[0] + n_pairs) for t in solution.t_events)
    return t_alpha, t_beta


END = 40.0  # of beta: a part e^-40 of the time is left


def runaway_time(n_pairs: int) -> float:
    """The time, over N^2, at which alpha and beta are infinite; ValueError for N < 1.

    beta is the independent variable.
    """
    if n_pairs < 1:
        raise ValueError(f"need at least one pair, got N = {n_pairs}")
    places = np.arange(n_pairs)

    def slope(beta, state):
        """Of alpha and the time."""
        own_share = 1 / (1 + 2 * places * math.exp(-state[0]))
        pull = own_share * np.exp(beta * (own_share - 1))  # over e^beta
        total, shrunk = pull.sum(), math.exp(-beta)
        speed = total - shrunk / 2
        return [beta * (total - own_share @ pull) / speed, shrunk / speed]

    run = solve_ivp(slope, (0, END), (0.0, 0.0), method="LSODA", rtol=1e-9, atol=1e-12)
    return float(run.y[1, -1])
