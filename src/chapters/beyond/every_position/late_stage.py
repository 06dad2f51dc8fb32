"""The last phase of the limit flow: alpha and beta diverge together, and alpha is a little ahead.

With y = 2n/e^beta and delta = beta e^(beta - alpha), the prefix of n pairs has the attention
a = 1/(1 + y e^(delta y)). Both speeds are e^beta times an integral over y, a (1 - a)^2 for beta,
and the same times delta y for alpha: its factor beta cancels against 1 - g = delta y/beta.
So delta tends to the value at which the two are equal.
"""

import numpy as np
from jaxtyping import Float
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

EXACT = 400  # prefixes summed one by one; an integral over log n stands for longer ones
PANELS = 3  # of the integral, a unit of log n
NODES = 20  # of each panel


def balance() -> tuple[float, float]:
    """The limit of alpha - beta - log beta, and that of both speeds over e^beta."""

    def speed(delta: float, power: int) -> float:
        def part(y: float) -> float:
            z = y * np.exp(delta * y)
            return (delta * y) ** power * z**2 / (1 + z) ** 3

        return quad(part, 0, 100, epsabs=1e-13, limit=200)[0]

    delta = brentq(lambda d: speed(d, 0) - speed(d, 1), 0.1, 0.9)
    return float(-np.log(delta)), speed(delta, 0)


def speeds(alpha: float, beta: float) -> tuple[float, float]:
    """The speeds of alpha and beta in the planar flow of infinitely many prefixes."""
    low, high = np.log(EXACT + 0.5), max(alpha, np.log(EXACT)) + 8
    edges = np.linspace(low, high, int(PANELS * (high - low)) + 2)
    half = np.diff(edges)[:, None] / 2
    nodes, node_weights = np.polynomial.legendre.leggauss(NODES)
    far = np.exp(edges[:-1, None] + half * (1 + nodes)).ravel()
    n = np.concatenate([np.arange(1.0, EXACT + 1), far])
    weight = np.concatenate([np.ones(EXACT), (half * node_weights).ravel() * far])
    others = (2 * n - 2) * np.exp(-alpha)
    share = 1 / (1 + others)
    rivals = (2 * n - 1) * np.exp(-beta * share)
    push = weight * 4 * n / (2 * n - 1) * share * rivals**2 / (1 + rivals) ** 3
    beyond = np.exp(alpha - high) / 2  # of still longer prefixes: 2 (1/2n) e^alpha/2n each
    return beta * (float(push @ (others * share)) + beyond), float(push.sum()) + beyond


def path(betas: Float[np.ndarray, " times"]) -> Float[np.ndarray, " times"]:
    """The alpha of the planar flow from zero at increasing values of beta."""

    def slope(beta: float, alpha: np.ndarray) -> list[float]:
        by_alpha, by_beta = speeds(float(alpha[0]), beta)
        return [by_alpha / by_beta]

    ends = (0.0, float(betas[-1]))
    return solve_ivp(slope, ends, [0.0], t_eval=betas, method="LSODA", rtol=1e-9, atol=1e-12).y[0]
