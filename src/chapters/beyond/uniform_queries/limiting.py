"""Emergence times of the limiting flow under uniform queries, for as many pairs as one likes."""

import math

from scipy.integrate import solve_ivp

from emergence.theory import Crossing
from emergence.theory.laws import uniform_excess
from running.memo import kept


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
