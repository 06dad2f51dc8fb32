"""Gradient flow, gradient descent and emergence times of the reduced model (§6, App. B)."""

from emergence.tasks import Query

from . import reduced, uniform
from .flow import ZERO, Array, Rates, State, Trajectory, descent_in, flow_in
from .landscape import Landscape
from .times import EmergenceTimes, times_in

LOSSES = {"last": reduced.landscape, "uniform": uniform.landscape}


def gradient_flow(
    n_pairs: int,
    t_max: float,
    *,
    query: Query = "last",
    start: State = ZERO,
    times: Array | None = None,
) -> Trajectory:
    """The gradient flow of the reduced model (App. B.5).

    Args:
        n_pairs: pairs N in the context, >= 1.
        t_max: flow time at which the path ends, >= 0.
        query: which pair the query asks for, `last` (App. B) or `uniform` any.
        start: alpha, beta, gamma at time 0, zero unless given.
        times: increasing flow times from 0 to t_max; None for where the solver stepped.

    Returns:
        The path in flow time at unit learning rate, integrated to a relative tolerance of 1e-12.

    Raises:
        ValueError: for N < 1, a negative t_max, times outside or an unknown query rule.
        ArithmeticError: when the solver gives up.

    Example:
        >>> path = theory.gradient_flow(4, 200.0, times=np.array([0.0, 100.0, 200.0]))
        >>> path.loss.round(3).tolist()
        [1.0, 0.005, 0.002]
    """
    return flow_in(landscape_of(n_pairs, query), t_max, start=start, times=times)


def gradient_descent(
    n_pairs: int, learning_rate: float, steps: int, *, query: Query = "last"
) -> Trajectory:
    """Gradient descent of the reduced model from zero, on the population loss (App. B.5).

    Args:
        n_pairs: pairs N in the context, >= 1.
        learning_rate: > 0, the same for the three parameters.
        steps: number of updates, >= 0.
        query: which pair the query asks for, `last` (App. B) or `uniform` any.

    Returns:
        The path of steps + 1 states; t is flow time, learning rate times updates.

    Raises:
        ValueError: for N < 1 or an unknown query rule.

    Example:
        >>> path = theory.gradient_descent(4, 0.5, 2)
        >>> path.t.tolist(), round(float(path.gamma[1]), 6)  # 0.5 times 2/2N after one step
        ([0.0, 0.5, 1.0], 0.125)
    """
    rates = Rates(learning_rate, learning_rate, learning_rate)
    path = descent_in(landscape_of(n_pairs, query), steps, rates=rates)
    return path._replace(t=learning_rate * path.t)


def emergence_times(
    n_pairs: int, *, query: Query = "last", threshold: float | State = 0.5
) -> EmergenceTimes:
    """The emergence times of the reduced model (Definitions 1 and 3, Theorem 2).

    Args:
        n_pairs: pairs N in the context, >= 1.
        query: which pair the query asks for, `last` (App. B) or `uniform` any.
        threshold: > 0, one value for all or one each for alpha, beta, gamma.

    Returns:
        Times in flow time at unit learning rate, to a relative error near 1e-9; infinity for a
        value never reached.

    Raises:
        ValueError: for N < 1, a threshold that is not positive or an unknown query rule.
        ArithmeticError: when the solver gives up.

    Example:
        >>> times = theory.emergence_times(100)
        >>> times.gamma < times.beta < times.alpha == times.icl < times.collapse
        True
        >>> round(times.alpha / 100**2, 3)  # 1.711 for large N
        1.718
    """
    return times_in(landscape_of(n_pairs, query), threshold=threshold)


def landscape_of(n_pairs: int, query: Query = "last") -> Landscape:
    """The population loss of the reduced model on orthonormal inputs (App. B.3).

    Args:
        n_pairs: pairs N in the context, >= 1.
        query: which pair the query asks for, `last` (App. B) or `uniform` any.

    Returns:
        The loss and its gradient, at one point at a time.

    Raises:
        ValueError: for N < 1 or an unknown query rule.

    Example:
        >>> theory.landscape_of(4).loss(0.0, 0.0, 0.0)
        1.0
    """
    if query not in LOSSES:
        raise ValueError(f"query must be one of {tuple(LOSSES)}, got {query!r}")
    return LOSSES[query](n_pairs)
