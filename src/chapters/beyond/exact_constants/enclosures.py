"""Rigorous bounds of emergence times: the reduced flow in Arb's interval arithmetic.

alpha follows from beta by the first integral, and everything that beta decides is monotonic in it,
so over a step it lies between its values at the ends. gamma then obeys a linear equation with
enclosed coefficients. While gamma rises, time is the independent variable and beta is enclosed;
afterwards beta is, and the time that passes is the step over the enclosed speed of beta.
"""

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

from flint import arb, ctx

from emergence.proofs.intervals import outward
from running.memo import kept

PRECISION = 80  # bits; the steps, not rounding, decide the width
SLACK = 1e-12  # relative, around numbers that no float is equal to
RISE = 2  # the time, in units of N, for which time is the independent variable


class Enclosures(NamedTuple):
    """Bounds (low, high) of the emergence times at threshold 1/2, and of the loss's fall to 1/2."""

    alpha: tuple[float, float]
    beta: tuple[float, float]
    gamma: tuple[float, float]
    collapse: tuple[float, float]  # infinity where the steps are too few to tell


class _State(NamedTuple):
    """What beta decides; p and o are the attention to the target and to each other position."""

    beta: arb
    retrieval: arb
    p: arb
    o: arb
    norm: arb  # p^2 + (2N - 1) o^2


@kept
def enclose(n_pairs: int, steps: int = 2000) -> Enclosures:
    """Rigorous bounds for one N >= 2, of a relative width near 1/steps; ValueError for N < 2."""
    if n_pairs < 2:
        raise ValueError(f"emergence takes at least two pairs, got {n_pairs}")
    ctx.prec = PRECISION
    marks = 0.5, *_around_half_alpha(n_pairs)
    low: dict[str, float] = {}
    high: dict[str, float] = {}

    beta, gamma, wait = arb(0), arb(0), arb(RISE * n_pairs) / steps
    for step in range(steps):
        over, beta, following = _rise(beta, gamma, wait, n_pairs)
        _note_half(low, high, wait * step, gamma, following, over)
        gamma = following
    # On to the upper end of beta, which later values reach after a little more time.
    here, over = _state(beta.upper(), n_pairs), _between(beta, n_pairs)
    rest = (beta.upper() - beta) / _speed(over, gamma.union(over.p / over.norm), n_pairs)
    gamma = _relaxed(gamma, over.p / over.norm, 2 * over.norm * rest)
    time = RISE * n_pairs + rest
    if not (_loss(over, gamma) > 0.5):
        raise ArithmeticError(f"the loss may have fallen while gamma rose, N = {n_pairs}")
    betas = _grid(float(here.beta), steps, marks)
    while len(high) < 4 and here.p < 0.9:
        right = _state(next(betas), n_pairs)
        over, width = _hull(here, right), right.beta - here.beta
        wait, gamma_there = _pass(over, gamma, width, n_pairs)
        time_there = time + wait

        if right.beta == marks[0]:
            low["beta"], high["beta"] = outward(time_there)
        if right.beta == marks[1]:
            low["alpha"] = outward(time_there).low
        if right.beta == marks[2]:
            high["alpha"] = outward(time_there).high
        loss = _loss(right, gamma_there)
        if "collapse" not in low and loss.lower() <= 0.5:
            low["collapse"] = outward(time).low
        if "collapse" not in high and loss.upper() <= 0.5:
            high["collapse"] = outward(time_there).high
        here, gamma, time = right, gamma_there, time_there
    return Enclosures(
        **{name: (low[name], high.get(name, math.inf)) for name in Enclosures._fields}
    )


def _rise(beta: arb, gamma: arb, wait: arb, n_pairs: int) -> tuple[_State, arb, arb]:
    """One step in time: the states passed, and beta and gamma at its end.

    A guess of the interval that beta passes is right once the speed on it leads nowhere outside.
    """
    reach = arb(0)
    while True:
        passed = beta.union(beta.upper() + reach)
        over = _between(passed, n_pairs)
        goal = over.p / over.norm
        following = _relaxed(gamma, goal, 2 * over.norm * wait)
        moved = wait * _speed(over, gamma.union(following), n_pairs)
        if moved.upper() <= reach:
            return over, beta + moved.lower().union(moved.upper()), following
        reach = moved.upper() * 1.01


def _pass(over: _State, gamma: arb, width: arb, n_pairs: int) -> tuple[arb, arb]:
    """The time that a step of beta takes, and gamma at its end; the guess as in `_rise`."""
    goal, reach = over.p / over.norm, arb(1e-6)
    while reach < 100:
        guess = (gamma.lower() - reach).union(gamma.upper() + reach)
        wait = width / _speed(over, guess, n_pairs)
        following = _relaxed(gamma, goal, 2 * over.norm * wait)
        if guess.contains(following):
            return wait, following
        reach *= 2
    raise ArithmeticError(f"the steps are too wide at beta = {over.beta}, N = {n_pairs}")


def _note_half(
    low: dict[str, float],
    high: dict[str, float],
    time: arb,
    gamma: arb,
    following: arb,
    over: _State,
) -> None:
    """Bounds of the time at which gamma is one half, if it can be in this step, or must be."""
    goal = over.p / over.norm
    if "gamma" not in low and following.upper() >= 0.5:
        low["gamma"] = outward(time + _wait_for_half(gamma.upper(), goal.upper(), over.norm)).low
    if "gamma" not in high and following.lower() >= 0.5:
        high["gamma"] = outward(time + _wait_for_half(gamma.lower(), goal.lower(), over.norm)).high


def _between(beta: arb, n_pairs: int) -> _State:
    """All states for a beta in an interval."""
    return _hull(_state(beta.lower(), n_pairs), _state(beta.upper(), n_pairs))


def _hull(one: _State, two: _State) -> _State:
    return _State(*(first.union(second) for first, second in zip(one, two, strict=True)))


def _state(beta: float | arb, n_pairs: int) -> _State:
    """The exact quantities at one beta, as balls."""
    b, others = arb(beta), 2 * n_pairs - 1
    power = _alpha(b, n_pairs).exp()
    retrieval = power / (power + 2 * n_pairs - 2)
    signal = (b * retrieval).exp()
    p, o = signal / (signal + others), 1 / (signal + others)
    return _State(b, retrieval, p, o, p**2 + others * o**2)


def _loss(state: _State, gamma: arb) -> arb:
    """The loss of App. B.3."""
    return gamma**2 * state.norm - 2 * gamma * state.p + 1


def _around_half_alpha(n_pairs: int) -> tuple[float, float]:
    """Two values of beta, alpha below one half at the first and above at the second.

    At a given alpha the first integral falls with beta, so its signs there prove it.
    """
    root = math.sqrt((math.expm1(0.5) + n_pairs - 1) / (n_pairs - 1))
    ends = root * (1 - SLACK), root * (1 + SLACK)
    left = [arb(0.5).expm1() + (n_pairs - 1) - (n_pairs - 1) * arb(beta) ** 2 for beta in ends]
    if not (left[0] > 0 > left[1]):
        raise ArithmeticError(f"no bracket for beta at alpha = 1/2, N = {n_pairs}")
    return ends


def _alpha(beta: arb, n_pairs: int) -> arb:
    """The alpha of the first integral: Newton's root of a growing function, between two signs."""
    constant = (n_pairs - 1) * beta**2
    root = min(float(constant) / (2 * n_pairs - 1), math.log1p(float(constant)))  # from above
    for _ in range(60):
        slope = math.exp(root) + 2 * n_pairs - 2
        root -= (math.expm1(root) + (2 * n_pairs - 2) * root - float(constant)) / slope
    low, high = arb(root * (1 - SLACK)), arb(root * (1 + SLACK))
    ends = [a.expm1() + (2 * n_pairs - 2) * a - constant for a in (low, high)]
    if not (ends[0] <= 0 <= ends[1]):
        raise ArithmeticError(f"no bracket for alpha at beta = {beta}, N = {n_pairs}")
    return low.union(high)


def _speed(over: _State, gamma: arb, n_pairs: int) -> arb:
    """dbeta/dt of App. B.5."""
    push = gamma * (1 - gamma * (over.p - over.o))
    return 2 * (2 * n_pairs - 1) * over.p * over.o * over.retrieval * push


def _relaxed(gamma: arb, goal: arb, exponent: arb) -> arb:
    """gamma after relaxing towards the goal: exact bounds, end by end."""
    gone = 1 - (-exponent).exp()
    low, high = gamma.lower(), gamma.upper()
    towards_low, towards_high = goal.lower() - low, goal.upper() - high
    slow, fast = gone.lower(), gone.upper()
    return (low + towards_low * (slow if towards_low >= 0 else fast)).union(
        high + towards_high * (fast if towards_high >= 0 else slow)
    )


def _wait_for_half(gamma: arb, goal: arb, norm: arb) -> arb:
    """The time in which gamma relaxes to one half."""
    return ((goal - gamma) / (goal - arb(0.5))).log() / (2 * norm)


def _grid(start: float, steps: int, marks: tuple[float, ...]) -> Iterator[float]:
    """Values of beta after `start`: evenly spaced, the marks among them."""
    width = marks[-1] / steps
    even = (k * width for k in range(1, steps))
    yield from sorted({*(b for b in (*even, *marks) if b > start)})
    yield from (max(start, marks[-1]) + k * width for k in itertools.count(1))
