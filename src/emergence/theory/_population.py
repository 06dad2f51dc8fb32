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
        n_pairs: pairs N in the context, >= 1.
        t_max: flow time at which the path ends, >= 0.
        query: which pair the query asks for: `last` (App. B) or `uniform`, any pair.
        model: `reduced`, the three parameters of §6, or `full`, all 19 of Theorem 1.
        mask: `strict`, where a position does not attend to itself (App. B.2), or `causal`, where it
            does.
        start: the parameters at time 0, three or 19, zero unless given.
        times: increasing flow times from 0 to t_max, or None for the steps of the solver.

    Returns:
        The path in flow time at unit learning rate, integrated to a relative tolerance of 1e-12.

    Raises:
        ValueError: if N < 1, t_max is negative, a time lies outside, or the query rule, the model
            or the mask is unknown.
        ArithmeticError: if the solver fails.

    Example:
        >>> path = theory.gradient_flow(4, 200.0, times=np.array([0.0, 100.0, 200.0]))
        >>> path.loss.round(3).tolist()
        [1.0, 0.005, 0.002]
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
        n_pairs: pairs N in the context, >= 1.
        learning_rate: > 0, the same for all parameters.
        steps: number of updates, >= 0.
        query: which pair the query asks for: `last` (App. B) or `uniform`, any pair.
        model: `reduced`, the three parameters of §6, or `full`, all 19 of Theorem 1.
        mask: `strict`, where a position does not attend to itself (App. B.2), or `causal`, where it
            does.

    Returns:
        The path of steps + 1 states; t is flow time, learning rate times updates.

    Raises:
        ValueError: if N < 1, or the query rule, the model or the mask is unknown.

    Example:
        >>> path = theory.gradient_descent(4, 0.5, 2)
        >>> path.t.tolist(), round(float(path.gamma[1]), 6)  # 0.5 times 2/2N after one step
        ([0.0, 0.5, 1.0], 0.125)
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
        model: `reduced`, the three parameters of §6, or `full`, all 19 of Theorem 1.
        threshold: > 0, one value for all or one each for alpha, beta, gamma.
        supervision: where a loss is taken: `last`, at the last position only, as in the paper;
            `every`, the mean over all prefixes of 1 .. N pairs, each with its own query; or a
            weight for each prefix, >= 0 with a sum of 1 (chapter A loss at every position).
        mask: `strict`, where a position does not attend to itself (App. B.2), or `causal`, where it
            does, as in language models.
        rates: the rate of each layer's parameters or of each parameter, as in `theory.times_in`.
        start: the parameters at time 0, zero unless given.
        end: flow time after which nothing counts as reached; None for a long multiple of N^2.

    Returns:
        Flow times at unit learning rate, with a relative error near 1e-9; infinity if a value is
        never reached. The loss that collapses is the one that is trained.

    Raises:
        ValueError: if N < 1, a threshold is not positive, the query rule, model, supervision or
            mask is unknown, or the weights are invalid.
        ArithmeticError: if the solver fails.

    Example:
        >>> times = theory.emergence_times(100)
        >>> times.gamma < times.beta < times.alpha == times.icl < times.collapse
        True
        >>> round(times.alpha / 100**2, 3)  # 1.711 for large N
        1.718
        >>> times = theory.emergence_times(16, model="full")
        >>> times.gamma < times.alpha < times.beta
        True
        >>> times = theory.emergence_times(1024, supervision="every")
        >>> round(times.alpha / 1024, 3)  # of order N where one query takes N^2
        2.133
        >>> theory.emergence_times(16, supervision="every", mask="causal").alpha  # never
        inf
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
        n_pairs: pairs N in the context, >= 1.
        query: which pair the query asks for: `last` (App. B) or `uniform`, any pair.
        model: `reduced`, the three parameters of §6, or `full`, all 19 of Theorem 1.
        supervision: `last`, `every` or the weights of the prefixes, as in
            `theory.emergence_times`.
        mask: `strict` or `causal`, as there.

    Returns:
        The loss and its gradient at one point at a time.

    Raises:
        ValueError: if N < 1, the query rule, model, supervision or mask is unknown, or the weights
            are invalid.

    Example:
        >>> theory.landscape_of(4).loss(0.0, 0.0, 0.0)
        1.0
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
        alpha: alpha_3, any; floats or arrays that broadcast.
        beta: beta_2, any.
        n_pairs: pairs N in the context, >= 1.

    Returns:
        The first integral, constant along the flow and 0 for a flow from zero; a float for floats.

    Example:
        >>> path = theory.gradient_flow(4, 100.0)
        >>> bool(abs(theory.first_integral(path.alpha, path.beta, 4)).max() < 1e-6)
        True
    """
    alpha, beta = np.asarray(alpha, dtype=float), np.asarray(beta, dtype=float)
    return unwrapped(np.expm1(alpha) + (2 * n_pairs - 2) * alpha - (n_pairs - 1) * beta**2)
