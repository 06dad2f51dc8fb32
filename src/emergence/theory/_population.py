"""Flow, descent and times of both models, and steps on Gaussian data (§4, §6, App. B)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, get_args

import numpy as np
from jaxtyping import Float

from emergence.models import Mask
from emergence.running.memo import kept
from emergence.tasks import Query

from . import _reduced as reduced
from . import positions
from ._flow import (
    UNIT,
    Array,
    EmergenceTimes,
    Landscape,
    Point,
    Rates,
    State,
    Trajectory,
    descent_in,
    flow_in,
    times_in,
)
from ._loss import Model
from ._reduced import Values, unwrapped
from .positions import Supervision, Weighting


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


class PredictedSteps(NamedTuple):
    """Numbers of updates of a training on Gaussian data (§4); infinity if never reached.

    Attributes:
        alpha: updates until D alpha_3 first is at least 1/2.
        beta: updates until D beta_2 first is.
        gamma: updates until gamma_3 first is.
        loss: updates until the loss, a mean over dimensions, first is at most 1/2.
    """

    alpha: float
    beta: float
    gamma: float
    loss: float


def gaussian_rates(dim: float, learning_rate: float = 1.0) -> Rates:
    """The rates at which one step of §4 on Gaussian data moves (D alpha_3, D beta_2, gamma_3).

    Args:
        dim, learning_rate: dimension D and learning rate of the network that is trained, > 0.

    Returns:
        The rate of each parameter per step.
    """
    # Items, labels and positions have squared norm D, hence the first two are what orthonormal
    # inputs would see. The loss is the mean over D dimensions, the coordinate of a matrix with
    # squared norm D another 1/D, and the chain rule gives back D^2 for the first two.
    return Rates(learning_rate * dim, learning_rate * dim, learning_rate / dim)


def crossover_time(n_pairs: float, dim: float, area: float) -> float:
    """The step of emergence on Gaussian data (chapter Real transformers).

    Args:
        n_pairs, dim: pairs N in the context and dimension D of an item, label or position, > 0.
        area: the integral of e^(-u^2/2) up to the threshold, > 0.

    Returns:
        The steps u N D at learning rate 1, where u solves u - 1 + e^-u = 2 N area/D^2.
    """
    ratio = 2 * n_pairs * area / dim**2
    u = np.sqrt(2 * ratio) if ratio < 1 else 1 + ratio
    for _ in range(60):  # Newton's steps on a convex function, from the right of its root or near
        u -= (u - 1 + np.exp(-u) - ratio) / -np.expm1(-u)
    return float(u * n_pairs * dim)


def first_steps(run: Trajectory, level: float = 0.5) -> Float[np.ndarray, " 4"]:
    """The first updates after which alpha, beta, gamma and the loss have passed a level.

    Args:
        run: a path whose times count updates, as from `theory.descent_in` (§4).
        level: the level that the parameters must reach and to which the loss must fall.

    Returns:
        Numbers of updates for alpha, beta, gamma and the loss; infinity if never passed.
    """
    curves = np.stack([run.alpha, run.beta, run.gamma, -run.loss])
    levels = np.array([level, level, level, -level])[:, None]
    reached = curves >= levels
    return np.where(reached.any(axis=1), reached.argmax(axis=1), np.inf)


@kept
def predicted_steps(
    n_pairs: int,
    dim: int,
    *,
    learning_rate: float = 1.0,
    query: Query = "uniform",
    model: Model = "full",
    limit: int = 10_000,
) -> PredictedSteps:
    """The steps of descent on the population loss at the rates of Gaussian data (§4).

    Args:
        n_pairs, query, model: as `emergence_times` takes them.
        dim: dimension D of an item, label or position, > 0.
        learning_rate: that of the training, > 0, for a loss that is a mean over dimensions.
        limit: the number of updates after which nothing counts as reached.

    Returns:
        The number of updates before each threshold is passed; infinity if it never is.

    Raises:
        ValueError: if N < 1, or the query rule or the model is unknown.
    """
    # Inputs with independent N(0, 1) entries are treated as orthogonal vectors of squared norm D,
    # so overlaps, of relative size 1/sqrt(D), are neglected.
    landscape = landscape_of(n_pairs, query, model=model)
    rates = gaussian_rates(float(dim), learning_rate)
    steps = min(64, limit)
    while True:
        steps_to = first_steps(descent_in(landscape, steps, rates=rates))
        if steps == limit or np.isfinite(steps_to).all():
            return PredictedSteps(*steps_to.tolist())
        steps = min(2 * steps, limit)
