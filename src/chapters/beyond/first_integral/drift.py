"""How discrete steps change the first integral."""

import numpy as np
from scipy.integrate import simpson

from emergence.theory import gradient_flow, reduced_gradient
from running.memo import kept


@kept
def first_integral_drift(n_pairs: int, t_max: float) -> float:
    """The drift of the first integral under gradient descent, per unit learning rate (this book).

    Args:
        n_pairs: pairs N in the context, >= 1.
        t_max: flow time at unit learning rate up to which it adds up, > 0.

    Returns:
        The first integral at t_max over the learning rate, for small ones.

    Raises:
        ValueError: for N < 1 or a negative t_max.
        ArithmeticError: when the solver gives up.

    Example:
        >>> run = theory.gradient_descent(4, 1e-3, 20_000)
        >>> left = theory.first_integral(run.alpha[-1], run.beta[-1], 4) / 1e-3
        >>> round(left / first_integral_drift(4, 20.0), 2)
        1.0
    """
    # The second order of a step, half the Hessian of the integral at the velocity, summed along
    # the flow; the first order vanishes.
    flow = gradient_flow(n_pairs, t_max, times=np.linspace(0, t_max, 4001))
    d_alpha, d_beta, _ = reduced_gradient(flow.alpha, flow.beta, flow.gamma, n_pairs)
    second_order = np.exp(flow.alpha) * d_alpha**2 - 2 * (n_pairs - 1) * d_beta**2
    return float(simpson(second_order, x=flow.t) / 2)
