"""The twelve coordinates that move when the last pair is asked for, in intervals.

Five of the nineteen stay at zero, beta_9 equals beta_7 and beta_11 equals beta_8. Time is counted
as t/N, and attention is multiplied by N, so that all formulas are written in x = 1/N: a ball
around x then stands for many N at once. Rows of pair q are called the answer's item and label; the
2N - 2 rows before them are the past.

Each coordinate z obeys z' = goal - rate z. The gradient with respect to a score of layer 2 is a sum
over rows of a (gamma_3 r + gamma_4 A r + G). Here r is the error of the output, A r is its mean
over what a row attends to in layer 1, and 4 G = (gamma_3^2 + gamma_4^2)', because the output's own
speed stands for what the norm of the attention costs.
"""

from typing import Any, NamedTuple

from flint import arb

Number = Any  # a ball, or a series of balls


class State(NamedTuple):
    """The twelve, with joint = gamma_2 + gamma_3 and apart = gamma_3 - gamma_2.

    alpha_1 and beta_1 follow the output at once, and are meant here without what they follow by:
    u (gamma_2 gamma_1 - gamma_2^2/2), where u is what the query pays in layer 1 to the item asked
    for, and a (gamma_3 gamma_1 - (gamma_3^2 + gamma_4^2)/2) with what it pays in layer 2.
    """

    alpha_1: arb
    alpha_3: arb
    beta_1: arb
    beta_2: arb
    beta_7: arb
    beta_8: arb
    beta_10: arb
    beta_12: arb
    gamma_1: arb
    joint: arb
    apart: arb
    gamma_4: arb


class Sums(NamedTuple):
    """Sums over the past that depend on alpha_3 and N alone."""

    # the sum over k of 4k (2k + 1)/(2k + e^alpha)^3, `laws.recency` without its last term
    push: arb
    # 2 (2N - 3) minus the sum of squares of the past's attention to each row in layer 1
    missing: arb
    first: arb  # the past's attention to row 0


class Attention(NamedTuple):
    """Attention of both layers, times N, and the inner products that the loss consists of."""

    each: Number  # the query's attention in layer 1 to a row that is not the queried item
    asked: Number  # its attention to the queried item
    norm: Number  # of the attention of layer 2, over N
    item: Number  # the attention of layer 2 to the answer's item
    label: Number  # to its label
    first: Number  # to row 0
    passed: Number  # what item and label of the answer pass on to a row of the past
    both: Number  # N |u + a|^2, u the query's attention in layer 1 and a that in layer 2
    more: Number  # N (|a|^2 - |u|^2)
    mixed: Number  # N (u + a) . v, with v what the rows that layer 2 finds had found in layer 1.
    turned: Number  # N (a - u) . v.
    found: Number  # 2N |v|^2


def sums(n_pairs: int, alpha: arb) -> Sums:
    """The sums over the past at N >= 3 pairs, in a time of order N."""
    grown = alpha.exp()
    push, paid = arb(0), arb(0)
    shares, own = [arb(0)], [arb(1)]  # up to pair k; label k to its own item
    for k in range(1, n_pairs - 1):
        label = 1 / (2 * k + grown)
        push += 4 * k * (2 * k + 1) * label * label * label
        paid += label + arb(1) / (2 * k)
        shares.append(paid)
        own.append(grown * label)
    squares = arb(0)
    for share, kept in zip(shares, own, strict=True):
        to_label = paid - share
        to_item = to_label + kept
        squares += to_label * to_label + to_item * to_item
    return Sums(push, 2 * (2 * n_pairs - 3) - squares, paid + 1)


def attention_and_overlaps(
    x: Number,  # 1/N
    grown: tuple[Number, Number],  # e^alpha_1 and e^alpha_3
    raised: tuple[Number, Number, Number],
    missing: Number,  # `Sums.missing` times x
    first: Number,  # `Sums.first` times x
) -> Attention:
    """Attention and inner products.

    `raised` has the exponentials of the scores in layer 2 of the answer's item, of its label and of
    row 0; those of all other rows are 1.
    """
    on_item, on_label, on_first = raised
    each = 1 / (2 - x + x * grown[0])
    asked = grown[0] * each
    norm = 2 - 3 * x + x * (on_item + on_label + on_first)
    item, label, row = on_item / norm, on_label / norm, on_first / norm
    rest = 2 - 2 * x + x * grown[1]
    passed = on_item / (2 - 2 * x) + on_label / rest
    back = x * label * grown[1] / rest  # v of the answer's item, times N
    square = (2 - 3 * x + x * (on_item * on_item + on_label * on_label + on_first * on_first)) / (
        norm * norm
    )
    square_query = (2 - x) * each * each + x * asked * asked
    product = each * (1 - x * item) + asked * x * item
    by_query = each * (1 - x * row) + x * (asked - each) * back
    found_first = (first + x * x * passed) / norm
    by_rows = (1 - x * row - x * back - (1 - on_first) * found_first) / norm + x * item * back
    of_past = 4 - 6 * x - missing + 2 * x * passed * (2 - 3 * x)
    of_past += x * x * (2 - 2 * x) * passed * passed
    return Attention(
        each, asked, norm, item, label, row, passed,
        both=square + square_query + 2 * product,
        more=square - square_query,
        mixed=by_query + by_rows,
        turned=by_rows - by_query,
        found=2 * of_past / (norm * norm) + 2 * x * back * back,
    )  # fmt: skip


PRECISION = 64  # bits; the steps, not rounding, decide the width
KAPPA = "0.4113"  # at least pi^2/24: the sum of 1/(2k + e^alpha)^2 is at most this


class Reach(NamedTuple):
    """Where alpha_1 and beta_1 are for certain."""

    alpha_1: arb
    beta_1: arb


class Whole(NamedTuple):
    """What a state stands for: alpha_1 and beta_1 themselves, scores and attention."""

    reach: Reach
    raised: tuple[arb, arb, arb]
    share: arb  # what the answer's label pays to its item in layer 1
    paid: Attention


def wide() -> Reach:
    """The intervals that alpha_1 and beta_1 are not allowed to leave."""
    return Reach(arb(0, 0.1), arb("0.35") + arb(0, 0.65))


def state_values(state: State, x: arb, missing: arb, first: arb) -> Whole:
    """What a state stands for, when 1/N is in `x`; `missing` and `first` as `attention` has them.

    alpha_1 and beta_1 start inside `wide`, and what follows from their being there is inside too:
    so they never leave. Raises ArithmeticError where it is not.
    """
    two, three = output_parameters(state)
    grown = state.alpha_3.exp()
    share = x * grown / (2 - 2 * x + x * grown)
    reach = wide()
    squares = three * three + state.gamma_4 * state.gamma_4
    for turn in range(5):  # each makes both narrower
        each = 1 / (2 - x + x * reach.alpha_1.exp())
        asked = 1 / ((2 - x) * (-reach.alpha_1).exp() + x)
        ahead = x * (asked - each)
        raised = (
            (reach.beta_1 + 2 * state.beta_7 * ahead).exp(),
            (state.beta_10 * ahead + (state.beta_2 + 2 * state.beta_8 * ahead) * share).exp(),
            (-(2 * state.beta_8 + state.beta_12) * x * each).exp(),
        )
        item = 1 / (1 + (2 - 3 * x + x * (raised[1] + raised[2])) / (x * raised[0]))
        follows = Reach(
            state.alpha_1 + x * asked * two * (state.gamma_1 - two / 2),
            state.beta_1 + item * (three * state.gamma_1 - squares / 2),
        )
        inside = all(old.contains_interior(new) for old, new in zip(reach, follows, strict=True))
        if turn == 0 and not inside:
            raise ArithmeticError(f"alpha_1 or beta_1 leaves what was taken, 1/N = {x}")
        reach = follows
    paid = attention_and_overlaps(x, (reach.alpha_1.exp(), grown), raised, missing, first)
    return Whole(reach, raised, share, paid)


def drifts(state: State, x: arb, over: Sums) -> tuple[State, State]:
    """Goals and rates of the twelve, when 1/N is in `x` and the sums over the past in `over`."""
    _, raised, w, p = state_values(state, x, x * over.missing, x * over.first)
    two, three = output_parameters(state)
    four = state.gamma_4
    grown, ahead = state.alpha_3.exp(), x * (p.asked - p.each)
    back = p.label * w  # of the answer's label through its item, times N

    # the output
    goal_1 = -state.joint * (p.asked + p.item) - state.apart * (p.item - p.asked) - 2 * four * back
    joint = -2 * state.gamma_1 * (p.asked + p.item) - state.apart * p.more
    joint += -2 * four * p.mixed + 2 * (p.each + p.label)
    goal_4 = -2 * state.gamma_1 * back - state.joint * p.mixed - state.apart * p.turned
    item = state.gamma_1 - x * goal_1 / 2  # errors: at the answer's item and label, and in all
    label = x * (two * p.each + three * p.label) - 1
    total = state.gamma_1 + state.joint + four * (1 - x * p.first) - 1
    past = total - item - label
    lost = (1 - raised[2]) / p.norm  # on row 0
    first = x * (two * p.each + (three + four * x * p.passed) / p.norm - three * lost)
    first += four * x * over.first / p.norm
    apart = (1 / p.norm - p.each) * total + ((raised[0] - 1) / p.norm - (p.asked - p.each)) * item
    apart = -2 * (apart + (raised[1] - 1) / p.norm * label - lost * first)
    speed_1 = -2 * item  # on the clock t
    speed_joint = joint - p.both * state.joint
    speed_4 = goal_4 - p.found * four
    speed_3, speed_2 = (speed_joint + apart) / 2, (speed_joint - apart) / 2
    turning = x * (three * speed_3 + four * speed_4) / 2  # G, with its clock

    # pushes on the scores of the answer's item and label and of row 0
    rest = x / (2 - 2 * x + x * grown)
    on_item = -2 * p.item * (three * item + four * past * x / (2 - 2 * x) + turning)
    on_label = -2 * p.label * (three * label + four * (rest * past + w * item) + turning)
    on_first = -2 * p.first * (three * first + turning)
    beta_8 = ahead * w * on_label - x * p.each * on_first

    # layer 1
    steep = w * (1 - w)
    score = state.beta_2 + 2 * state.beta_8 * ahead
    alpha_3 = x * four * four * grown * over.push / (p.norm * p.norm)
    alpha_3 += steep * (
        score * on_label - 2 * four * p.label * (item - past * x / (2 - 2 * x))
    ) - 2 * x * three * four * lost / p.norm * grown * arb(0).union(arb(KAPPA))
    u = x * p.asked
    by_ahead, by_each = u * (1 - u) + u * x * p.each, -u * x * p.each
    idle = (
        by_ahead * (2 * state.beta_7 * on_item + (2 * state.beta_8 * w + state.beta_10) * on_label)
        - by_each * (2 * state.beta_8 + state.beta_12) * on_first
    )
    alpha_1 = two * u * (speed_1 / x - speed_2) + idle

    # what follows at once is taken out of alpha_1 and beta_1
    u_speed = u * (1 - u) * alpha_1
    left_1 = idle - state.gamma_1 * (u_speed * two + u * speed_2) + two * two / 2 * u_speed
    ahead_speed, each_speed = by_ahead * alpha_1, by_each * alpha_1
    score_item = (1 + 2 * ahead * ahead) * on_item + 2 * state.beta_7 * ahead_speed
    score_label = w * (w * on_label + 2 * (beta_8 * ahead + state.beta_8 * ahead_speed))
    score_label += score * steep * alpha_3
    score_label += ahead * ahead * on_label + state.beta_10 * ahead_speed
    score_first = -x * p.each * (2 * beta_8 - x * p.each * on_first)
    score_first -= each_speed * (2 * state.beta_8 + state.beta_12)
    a = x * p.item
    a_speed = a * ((1 - a) * score_item - x * p.label * score_label - x * p.first * score_first)
    left_b = -2 * p.item * (four * past * x / (2 - 2 * x))
    left_b += (three * three + four * four) / 2 * a_speed
    left_b -= state.gamma_1 * (a_speed * three + a * speed_3)

    zero = arb(0)
    goals = State(
        left_1, alpha_3, left_b, w * on_label, ahead * on_item, beta_8, ahead * on_label,
        -x * p.each * on_first, goal_1, joint, apart, goal_4,
    )  # fmt: skip
    return goals, State._make([*[zero] * 8, 2 / x, p.both, zero, p.found])


def output_parameters(state: State) -> tuple[arb, arb]:
    """gamma_2 and gamma_3."""
    return (state.joint - state.apart) / 2, (state.joint + state.apart) / 2
