"""The first integral of the reduced flow, and what discrete steps make of it."""

import numpy as np
from scipy.integrate import simpson

from .flow import gradient_flow
from .reduced import plain, reduced_gradient


def first_integral(alpha, beta, n_pairs):
    """e^alpha - 1 + (2N - 2) alpha - (N - 1) beta^2, which is 0 along the flow from zero."""
    alpha, beta = np.asarray(alpha, dtype=float), np.asarray(beta, dtype=float)
    return plain(np.expm1(alpha) + (2 * n_pairs - 2) * alpha - (n_pairs - 1) * beta**2)


def first_integral_drift(n_pairs: int, t_max: float) -> float:
    """What gradient descent makes of the first integral by time t_max, per unit learning rate.

    The second order of a step, half the Hessian of the integral at the velocity, summed along the
    flow; the first order vanishes.
    """
    flow = gradient_flow(n_pairs, t_max, times=np.linspace(0, t_max, 4001))
    d_alpha, d_beta, _ = reduced_gradient(flow.alpha, flow.beta, flow.gamma, n_pairs)
    second_order = np.exp(flow.alpha) * d_alpha**2 - 2 * (n_pairs - 1) * d_beta**2
    return float(simpson(second_order, x=flow.t) / 2)
