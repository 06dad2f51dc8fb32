"""The flow of the twelve coordinates that move when the last pair is asked for, in intervals.

Each coordinate z obeys z' = goal - rate z, on the clock t/N. The gradient with respect to a score
of layer 2 is a sum over rows of a (gamma_3 r + gamma_4 A r + G). Here r is the error of the output,
A r is its mean over what a row attends to in layer 1, and 4 G = (gamma_3^2 + gamma_4^2)', because
the output's own speed stands for what the norm of the attention costs.
"""

from typing import NamedTuple

from flint import arb

from .twelve import Attention, State, Sums, attention_and_overlaps

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
