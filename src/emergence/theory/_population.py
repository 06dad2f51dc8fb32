"""Gradient flow, descent and emergence times of the reduced and of the full model (§6, App. B)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from emergence.models import Mask
from emergence.running.memo import kept
from emergence.tasks import Query

from . import _reduced as reduced
from . import positions
from ._flow import UNIT, Array, Landscape, Point, Rates, State, Trajectory, descent_in, flow_in
from ._loss import Model
from ._reduced import Values, unwrapped
from ._times import EmergenceTimes, times_in
from .positions._weighting import Supervision, Weighting


def gradient_flow(
    n_pairs: int,
    t_max: float,
    *,
    query: Query = "last",
    model: Model = "reduced",
    mask: Mask = "strict",
    start: Point | None = None,
    times: Array | None = None,
) -> Trajectory:
    """The gradient flow of the reduced model (App. B.5), or of all 19 pseudo-parameters.

    Args:
        n_pairs, query, model, mask, start: as `emergence_times` takes them.
        t_max: flow time at which the path ends, >= 0.
        times: increasing flow times from 0 to t_max, or None for the steps of the solver.

    Returns:
        The path in flow time at unit learning rate, integrated to a relative tolerance of `1e-12`.

    Raises:
        ValueError: if N < 1, t_max < 0, a time lies outside, or query, model or mask is unknown.
        ArithmeticError: if the solver fails.
    """
    landscape = landscape_of(n_pairs, query, model=model, mask=mask)
    return flow_in(landscape, t_max, start=start, times=times)


def gradient_descent(
    n_pairs: int,
    learning_rate: float,
    steps: int,
    *,
    query: Query = "last",
    model: Model = "reduced",
    mask: Mask = "strict",
) -> Trajectory:
    """Gradient descent from zero on the population loss of either model (App. B.5).

    Args:
        n_pairs, query, model, mask: as `emergence_times` takes them.
        learning_rate: > 0, the same for all parameters.
        steps: number of updates, >= 0.

    Returns:
        The path of steps + 1 states; t is flow time, learning rate times updates.

    Raises:
        ValueError: if N < 1, or the query rule, the model or the mask is unknown.
    """
    rates = Rates(learning_rate, learning_rate, learning_rate)
    landscape = landscape_of(n_pairs, query, model=model, mask=mask)
    path = descent_in(landscape, steps, rates=rates)
    return replace(path, t=learning_rate * path.t)


@kept
def emergence_times(
    n_pairs: int,
    *,
    query: Query = "last",
    threshold: float | State = 0.5,
    model: Model = "reduced",
    supervision: Supervision | Sequence[float] | Weighting = "last",
    mask: Mask = "strict",
    rates: Rates | Point = UNIT,
    start: Point | None = None,
    end: float | None = None,
) -> EmergenceTimes:
    """The emergence times of the reduced or of the full model (Definitions 1 and 3, Theorem 2).

    Args:
        n_pairs: pairs N in the context, >= 1.
        query: which pair the query asks for: `last` (App. B) or `uniform`, any pair.
        threshold: > 0, one value for all or one each for alpha, beta, gamma.
        model: `reduced`, the three parameters of §6, or `full`, all 19 of Theorem 1.
        supervision: where a loss is taken: `last`, at the last position, as in the paper; `every`,
            the mean over prefixes of 1 .. N pairs, each with its query; or their weights, >= 0 with
            a sum of 1.
        mask: `strict`, without the position itself (App. B.2), or `causal`, with it.
        rates: the rate of each layer's parameters or of each parameter, as `times_in` takes them.
        start: the parameters at time 0, three or 19, zero unless given.
        end: flow time after which nothing counts as reached; None for a long multiple of N^2.

    Returns:
        Flow times at unit learning rate, with a relative error near `1e-9`; infinity if never.

    Raises:
        ValueError: if N < 1, a threshold is not positive, the query rule, model, supervision or
            mask is unknown, or the weights are invalid.
        ArithmeticError: if the solver fails.

    Example:
        >>> times = theory.emergence_times(100)
        >>> times.gamma < times.beta < times.alpha == times.icl < times.collapse
        True
    """
    landscape = landscape_of(n_pairs, query, model=model, supervision=supervision, mask=mask)
    return times_in(landscape, rates=rates, start=start, threshold=threshold, end=end)


def landscape_of(
    n_pairs: int,
    query: Query = "last",
    *,
    model: Model = "reduced",
    supervision: Supervision | Sequence[float] | Weighting = "last",
    mask: Mask = "strict",
) -> Landscape:
    """The population loss of the reduced or of the full model on orthonormal inputs (App. B.3).

    Args:
        n_pairs, query, model, supervision, mask: as `emergence_times` takes them.

    Returns:
        The loss and its gradient at one point at a time.

    Raises:
        ValueError: if N < 1, query, model, supervision or mask is unknown, or weights are invalid.
    """
    if model not in get_args(Model):
        raise ValueError(f"model must be one of {get_args(Model)}, got {model!r}")
    if query not in get_args(Query):
        raise ValueError(f"query must be one of {get_args(Query)}, got {query!r}")
    rule = mask, model, query, supervision if isinstance(supervision, str) else "weights"
    if rule == ("strict", "reduced", "last", "last"):
        return reduced.landscape(n_pairs)
    weights = positions.weighting(n_pairs, supervision)
    return positions.landscape(weights, query, model=model, mask=mask)


def first_integral(alpha: Values, beta: Values, n_pairs: Values) -> Values:
    """The first integral e^alpha - 1 + (2N - 2) alpha - (N - 1) beta^2 of the flow (this book).

    Args:
        alpha, beta, n_pairs: as `theory.signal` takes them.

    Returns:
        The first integral, constant along the flow and 0 for a flow from zero; a float for floats.
    """
    alpha, beta = np.asarray(alpha, dtype=float), np.asarray(beta, dtype=float)
    return unwrapped(np.expm1(alpha) + (2 * n_pairs - 2) * alpha - (n_pairs - 1) * beta**2)
