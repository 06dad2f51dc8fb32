"""The flow of weak attention under uniform queries, whose end the conjecture on the collapse names.

With gamma at 1 and every total of attention at 2N, on the clock t/N^2, the sums over q run over
w = h/(q + h), h = e^alpha/2: beta' = sum of w e^(beta w), less 1/2, and alpha' = beta times the sum
of w (1 - w) e^(beta w).
"""

import math

import numpy as np
from scipy.integrate import solve_ivp

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
        own = 1 / (1 + 2 * places * math.exp(-state[0]))
        pull = own * np.exp(beta * (own - 1))  # over e^beta
        total, shrunk = pull.sum(), math.exp(-beta)
        speed = total - shrunk / 2
        return [beta * (total - own @ pull) / speed, shrunk / speed]

    run = solve_ivp(slope, (0, END), (0.0, 0.0), method="LSODA", rtol=1e-9, atol=1e-12)
    return float(run.y[1, -1])
