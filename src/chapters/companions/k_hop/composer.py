"""A network that knows how to compose and must find what is hidden: how long easy questions save.

It holds a stochastic matrix for each hop, (1 - m)/N + m p_i with the hidden permutation p_i, a
softmax of logits that are a_i at the right entries and 0 elsewhere. The agreement of two hidden
tuples (`hardness.formula`) is linear in each hop, so it answers j hops rightly with probability
1/N + (1 - 1/N) m_1 ... m_j, whatever the question. The loss is the mean cross-entropy.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.integrate import solve_ivp

Logits = Float[np.ndarray, " hops"]
Shares = Sequence[float] | np.ndarray  # of questions of 1, 2, ... hops


def overlaps(logits: Float[np.ndarray, "hops *any"], n: int) -> Float[np.ndarray, "hops *any"]:
    """m = (e^a - 1)/(e^a + N - 1)."""
    return (np.exp(logits) - 1) / (np.exp(logits) + n - 1)


def logits_at(overlap: float | Float[np.ndarray, " hops"], n: int) -> Float[np.ndarray, "*hops"]:
    """The inverse of `overlaps`."""
    return np.log((1 + (n - 1) * np.asarray(overlap)) / (1 - np.asarray(overlap)))


def velocity(logits: Logits, shares: Shares, n: int) -> Logits:
    """Minus the gradient of the loss by the a_i; w_j is the share of questions of j hops."""
    m = overlaps(logits, n)
    slope = n * np.exp(logits) / (np.exp(logits) + n - 1) ** 2  # dm/da
    slopes = np.zeros(len(m))
    for j, share in enumerate(shares, start=1):
        weight = share * (1 - 1 / n) / (1 / n + (1 - 1 / n) * m[:j].prod())
        for i in range(j):
            slopes[i] += weight * np.delete(m[:j], i).prod()
    return slopes * slope


def flow(
    shares: Shares, n: int, start: Float[np.ndarray, " hops"], *, until: float = 1e12
) -> tuple[float, Float[np.ndarray, " hops"]]:
    """The time until all hops together are held, at 0.9, from overlaps m_i = `start`; the overlaps.

    Raises ArithmeticError if they are not by the time `until`.
    """

    def held(_: float, a: Float[np.ndarray, " hops"]) -> float:
        return float(overlaps(a, n).prod()) - 0.9

    held.terminal = True  # type: ignore[attr-defined]
    run = solve_ivp(
        lambda _, a: velocity(a, shares, n), (0, until), logits_at(start, n), method="LSODA",
        rtol=1e-8, atol=1e-10, events=held,
    )  # fmt: skip
    if run.status != 1:
        raise ArithmeticError(f"{len(start)} hops are not held by the time {until}")
    return float(run.t[-1]), overlaps(run.y[:, -1], n)


def alone(k: int, n: int, start: float) -> float:
    """The time to hold k hops when only k hops are asked for."""
    return flow(np.eye(k)[-1], n, np.full(k, start))[0]


def mixed(k: int, n: int, start: float) -> float:
    """The time to hold k hops when 1 to k hops are asked for equally often."""
    return flow(np.full(k, 1 / k), n, np.full(k, start))[0]


def staged(k: int, n: int, start: float) -> float:
    """The time to hold k hops when j hops are asked for until they are held, j = 1 .. k."""
    reached, total = np.empty(0), 0.0
    for j in range(1, k + 1):
        time, reached = flow(np.eye(j)[-1], n, np.append(reached, start))
        total += time
    return total
