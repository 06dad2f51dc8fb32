"""The query asks for any pair: the limiting flow, and the flow that runs away.

The flow of weak attention ends where the conjecture on the collapse says. With gamma at 1 and every
total of attention at 2N, on the clock t/N^2, the sums over q run over w = h/(q + h), h = e^alpha/2:
beta' = sum of w e^(beta w), less 1/2, and alpha' = beta times the sum of w (1 - w) e^(beta w).

The steps behind the laws of uniform queries, each as a residual that must vanish.

h stands for e^alpha/2 and 1/e for log N; places count from 0.
"""

import math

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

from emergence.running.memo import kept
from emergence.theory import Crossing
from emergence.theory.laws import uniform_excess


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


E, H, N, Q, B, A, F = sp.symbols("e h N q b a f", positive=True)


def uniform_residuals() -> dict[str, sp.Expr]:
    """Left side minus right side of every step for uniform queries, by what it says."""
    alpha = sp.Symbol("alpha", real=True)
    share = sp.exp(alpha) / (2 * Q + sp.exp(alpha))
    early_share = H / (Q + H)
    total = H * (sp.digamma(N + H) - sp.digamma(H))  # of `found` over q < N
    grown = sp.exp(B**2 / 2)
    gauss = sp.sqrt(sp.pi / 2) * sp.erf(B / sp.sqrt(2))
    # with h = e^(b^2/2 + e a)/2 the speed of beta is h (1 + e f)/e
    wait = 1 / (grown / 2 * sp.exp(E * A) * (1 + E * F))
    short = B - E * A / B  # where alpha = b^2/2 + e a is what b^2/2 was
    return {
        "retrieval of pair q": sp.simplify(share - early_share.subs(H, sp.exp(alpha) / 2)),
        "its derivative by alpha": sp.simplify(sp.diff(share, alpha) - share * (1 - share)),
        "sum over q, one term more": sp.simplify(
            sp.expand_func(total.subs(N, N + 1)) - sp.expand_func(total) - early_share.subs(Q, N)
        ),
        "sum over q, none": total.subs(N, 0),
        "leading time": sp.simplify(2 * sp.diff(gauss, B) - 2 / grown),
        "next order of the time": sp.simplify(wait.diff(E).subs(E, 0) + 2 / grown * (A + F)),
        "beta where alpha emerges": sp.simplify((short**2 / 2 + E * A).diff(E).subs(E, 0)),
    }
