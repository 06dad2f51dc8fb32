"""The population loss of all nineteen pseudo-parameters on orthonormal inputs, and its gradient.

Inside the subspace of Theorem 1 the loss depends only on inner products of the inputs. On
orthonormal inputs (Assumption 7) it therefore depends on nothing random.

Rows of the context come in pairs k = 0 .. N - 1 of an item and a label; the query asks for pair q.
In layer 1 the item of pair k attends to each of the 2k earlier rows with `item` = 1/2k. Its label
attends to each of them with `label` = 1/(2k + e^alpha_3) and to its own item with `own` = e^alpha_3
label. A position has a score only with its partner, and the query has no position, so alpha_2 and
beta_3 to beta_6 have no effect. In layer 2 the query has equal scores with all rows before pair q,
except row 0, which attends to nothing, and its score with a later row does not depend on q. Up to
the norm of the attention, the sums over rows do not depend on q either: the sums over k < q and
over k > q serve all q at once, and the loss and its gradient have a cost of order N.
"""

import math
from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
from jaxtyping import Float

from emergence.tasks import Query

from ._flow import Landscape
from ._reduced import check_pairs

Row = Float[np.ndarray, " pairs"]
total = np.add.reduce  # np.sum, in less time


def landscape(n_pairs: int, query: Query = "last") -> Landscape:
    """The loss of the full model. Raises ValueError if N < 1."""
    check_pairs(n_pairs)
    chances = np.full(n_pairs, 1 / n_pairs) if query == "uniform" else np.eye(n_pairs)[-1]
    return landscape_of_chances(chances)


def landscape_of_chances(chances: Row) -> Landscape:
    """The full model's loss if the query asks for pair q with chance `chances[q]` (this book).

    Args:
        chances: the probability of each of the N pairs, >= 0 with a sum of 1.

    Returns:
        The loss of the 19 pseudo-parameters and its gradient, each at a cost of order N.

    Example:
        >>> first = theory.landscape_of_chances(np.array([1.0, 0.0, 0.0, 0.0]))
        >>> first.loss(*[0.0] * 19), len(first.gradient(*[0.0] * 19))
        (1.0, 19)
    """

    def loss(*parameters: float) -> float:
        return expected(forward(_point(parameters), len(chances)), chances)

    def gradient(*parameters: float) -> tuple[float, ...]:
        return backward(_point(parameters), forward(_point(parameters), len(chances)), chances)

    return Landscape(loss, gradient, len(chances), groups=(3, 12, 4), head=(2, 4, 17))


def _point(parameters: Sequence[float]) -> Sequence[float]:
    if len(parameters) != 19:
        raise ValueError(f"there are 19 pseudo-parameters (Theorem 1), got {len(parameters)}")
    return parameters


def forward(point: Sequence[float], n_pairs: int) -> SimpleNamespace:
    """What the loss is made of, for each pair q that the query may ask for."""
    k = np.arange(n_pairs, dtype=float)
    beta = dict(enumerate(point[3:15], start=1))
    gamma = dict(enumerate(point[15:], start=1))

    # layer 1: what the query pays to a row, and to its own item beyond that; then the context
    e = math.exp(point[0])
    rest = 1 / (2 * len(k) - 1 + e)
    ahead = (e - 1) * rest
    item = np.divide(0.5, k, out=np.zeros_like(k), where=k > 0)
    label = 1 / (2 * k + math.exp(point[2]))
    own = math.exp(point[2]) * label
    share = item + label
    share[0] = 0
    shares = np.add.accumulate(share)

    # layer 2: the score for what a row pays to item q, and to both of pair q; attention, not normed
    looking = beta[2] + (beta[8] + beta[11]) * ahead
    both = looking + beta[12] * ahead
    first = np.ones_like(k)
    first[0] = math.exp(-(beta[8] + beta[11] + beta[12]) * rest)  # row 0 looks at nothing
    on_item = math.exp(beta[1] + (beta[7] + beta[9]) * ahead) * first
    on_label = np.exp(beta[10] * ahead + looking * own)
    late_item, late_label = np.exp(both * item), np.exp(both * label)
    norm = before(1 + first) + on_item + on_label + after(late_item + late_label)

    # through layer 1: what pairs after k pass on to a row, and pairs from q on to one before
    through = after(late_item * item + late_label * label)
    early = through + on_item * item + on_label * label + shares - share

    # what the output holds: of label q and item q; of items and labels after q and before q, where
    # what is equal for all of them stands apart and the rest is times the norm
    equal_late = gamma[2] * rest
    equal_early = equal_late + gamma[4] * early / norm
    right = equal_late + (gamma[3] * on_label + gamma[4] * through) / norm
    wrong = equal_late + (gamma[3] * on_item + gamma[4] * (through + on_label * own)) / norm
    held_wrong = wrong + gamma[2] * ahead + gamma[1]
    late = (
        gamma[3] * late_item + gamma[4] * (through + late_label * own),
        gamma[3] * late_label + gamma[4] * through,
    )
    past = gamma[3] * first - gamma[4] * (shares - own), gamma[3] - gamma[4] * shares

    sums = {
        "late": (2 * (len(k) - 1 - k), equal_late, after(late[0] + late[1]), after(_squares(late))),
        "past": (2 * k, equal_early, before(past[0] + past[1]), before(_squares(past))),
    }
    return SimpleNamespace(**locals())


def expected(f: SimpleNamespace, chances: Row) -> float:
    """The loss when the query asks for pair q with probability `chances[q]`."""
    squares = f.right**2 + f.held_wrong**2
    for count, equal, linear, square in f.sums.values():
        squares = squares + count * equal**2 + 2 * equal * linear / f.norm + square / f.norm**2
    return float(chances @ (squares - 2 * f.right)) + 1


def backward(point: Sequence[float], f: SimpleNamespace, chances: Row) -> tuple[float, ...]:
    """The 19 derivatives of the loss; `d_x` is the derivative with respect to x in `forward`."""
    beta, gamma, k = f.beta, f.gamma, f.k

    # by the output's shares; those times the norm carry a factor 1/norm
    d_right, d_wrong = 2 * chances * (f.right - 1), 2 * chances * f.held_wrong
    (late_count, equal_late, late_sum, late_square) = f.sums["late"]
    (past_count, equal_early, past_sum, past_square) = f.sums["past"]
    d_equal_early = 2 * chances * (past_count * equal_early + past_sum / f.norm)
    d_each_late = 2 * chances * (late_count * equal_late + late_sum / f.norm)
    d_equal_late = float(total(d_each_late + d_right + d_wrong + d_equal_early))
    weight = 2 * chances / f.norm
    each, by_late = equal_late * before(weight), before(weight / f.norm)
    d_late = [each + part * by_late for part in f.late]
    each, by_past = after(weight * equal_early), after(weight / f.norm)
    d_past = [each + part * by_past for part in f.past]
    d_norm = (
        -(
            2 * chances * (equal_late * late_sum + equal_early * past_sum) / f.norm
            + 2 * chances * (late_square + past_square) / f.norm**2
            + d_equal_early * (equal_early - equal_late)
            + d_right * (f.right - equal_late)
            + d_wrong * (f.wrong - equal_late)
        )
        / f.norm
    )
    on_right, on_wrong, on_early = d_right / f.norm, d_wrong / f.norm, d_equal_early / f.norm

    # by the attention of layer 2
    d_through = gamma[4] * (sum(d_late) + on_right + on_wrong + on_early)
    seen, normed = before(d_through), before(d_norm)
    d_late_item = gamma[3] * d_late[0] + f.item * seen + normed
    d_late_label = gamma[3] * d_late[1] + gamma[4] * f.own * d_late[0] + f.label * seen + normed
    d_log_item = f.on_item * (gamma[3] * on_wrong + gamma[4] * f.item * on_early + d_norm)
    d_log_label = f.on_label * (
        gamma[3] * on_right + gamma[4] * (f.label * on_early + f.own * on_wrong) + d_norm
    )
    d_log_first = d_log_item[0] + f.first[0] * (total(d_norm[1:]) + gamma[3] * d_past[0][0])
    d_both = total(d_late_item * f.late_item * f.item + d_late_label * f.late_label * f.label)
    d_looking = total(d_log_label * f.own) + d_both

    # by the attention of layer 1
    taken = gamma[4] * sum(d_past)
    d_share = gamma[4] * after(on_early) - taken - after(taken)
    d_share[0] = 0
    d_own = gamma[4] * (d_late[0] * f.late_label + d_past[0] + on_wrong * f.on_label)
    d_own += f.looking * d_log_label
    d_label = gamma[4] * on_early * f.on_label + f.late_label * (seen + f.both * d_late_label)
    d_alpha_3 = total(f.own * ((1 - f.own) * d_own - f.label * (d_label + d_share)))

    # by the parameters
    d_gamma_1 = total(d_wrong)
    d_gamma_2 = d_equal_late * f.rest + d_gamma_1 * f.ahead
    d_gamma_3 = total(
        d_late[0] * f.late_item + d_late[1] * f.late_label + d_past[0] * f.first + d_past[1]
        + on_right * f.on_label + on_wrong * f.on_item
    )  # fmt: skip
    d_gamma_4 = total(
        d_late[0] * (f.through + f.late_label * f.own) + d_late[1] * f.through
        - d_past[0] * (f.shares - f.own) - d_past[1] * f.shares
        + on_early * f.early + on_right * f.through + on_wrong * (f.through + f.on_label * f.own)
    )  # fmt: skip
    by_item, by_label = total(d_log_item), total(d_log_label)
    d_ahead = (
        by_item * (beta[7] + beta[9]) + by_label * beta[10] + d_looking * (beta[8] + beta[11])
        + d_both * beta[12] + d_gamma_1 * gamma[2]
    )  # fmt: skip
    d_rest = d_equal_late * gamma[2] - d_log_first * (beta[8] + beta[11] + beta[12])
    # rest = 1/(2N - 1 + e^alpha_1), and ahead = 1 - 2N rest
    d_alpha_1 = f.e * f.rest**2 * (2 * len(k) * d_ahead - d_rest)
    lost = d_log_first * f.rest
    beta_7, beta_8 = by_item * f.ahead, d_looking * f.ahead - lost
    slope = (
        d_alpha_1, 0, d_alpha_3,
        by_item, d_looking, 0, 0, 0, 0,
        beta_7, beta_8, beta_7, by_label * f.ahead, beta_8, d_both * f.ahead - lost,
        d_gamma_1, d_gamma_2, d_gamma_3, d_gamma_4,
    )  # fmt: skip
    return tuple(float(part) for part in slope)


def after(terms: Row) -> Row:
    """The sum over k > q for every q."""
    sums = np.empty_like(terms)
    sums[-1] = 0
    np.add.accumulate(terms[:0:-1], out=sums[-2::-1])
    return sums


def before(terms: Row) -> Row:
    """The sum over k < q for every q."""
    sums = np.empty_like(terms)
    sums[0] = 0
    np.add.accumulate(terms[:-1], out=sums[1:])
    return sums


def _squares(parts: tuple[Row, Row]) -> Row:
    return parts[0] ** 2 + parts[1] ** 2
