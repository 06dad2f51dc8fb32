"""The three-parameter loss for any order of pairs and any probabilities of queries."""

import math

import numpy as np
from jaxtyping import Float, Int

from .._flow import Landscape


def expected_loss(
    order: Int[np.ndarray, " places"], chances: Float[np.ndarray, " distinct"]
) -> Landscape:
    """The mean loss when the query asks for pair q with probability `chances[q]` (this book).

    Args:
        order: the pair at each of the N places; repeated pairs have equal items and labels.
        chances: the probability of each pair 0 .. K - 1, >= 0 with a sum of 1; 0 if not in `order`.

    Returns:
        The squared error on orthonormal inputs with its gradient, as in App. B.3.

    Raises:
        ValueError: if the probabilities are invalid or refer to a pair outside the context.
    """
    if np.min(chances) < 0 or not math.isclose(np.sum(chances), 1):
        raise ValueError("chances must not be negative and have a sum of 1")
    # all queries at once, with one attention matrix whose rows are the queries
    wanted = np.flatnonzero(chances)
    if missing := set(wanted.tolist()) - set(order.tolist()):
        raise ValueError(f"pair {min(missing)} is not in the context")
    chance = chances[wanted]
    n, count = len(order), len(chances)
    place = 2.0 * np.arange(n)
    held = (order == wanted[:, None]).astype(float)  # whether the place has the pair asked for
    before = np.cumsum(held, axis=1) - held  # its copies at earlier places
    item = np.divide(before, place, out=np.zeros_like(before), where=place > 0)
    content = np.concatenate([order, order + count])  # of each row: items, then labels
    once = len(set(order.tolist())) == n
    says = np.eye(2 * count)[content]
    goal = np.eye(2 * count)[wanted + count]

    def forward(alpha, beta, gamma):
        """Shares of the queried item, the attention, the contents found, and the error."""
        shrunk = math.exp(-alpha)
        label = (before * shrunk + held) / (place * shrunk + 1)
        shares = np.concatenate([item, label], axis=1)
        attention = np.exp(beta * (shares - shares.max(axis=1, keepdims=True)))
        attention /= attention.sum(axis=1, keepdims=True)
        answer = attention[:, np.argsort(content)] if once else attention @ says
        return shares, attention, answer, gamma * answer - goal

    def loss(alpha, beta, gamma):
        error = forward(alpha, beta, gamma)[-1]
        return float(chance @ (error**2).sum(axis=1))

    def gradient(alpha, beta, gamma):
        shares, attention, answer, error = forward(alpha, beta, gamma)
        slope = (error * answer).sum(axis=1)
        by_score = 2 * gamma * attention * (error[:, content] - slope[:, None])
        shrunk = math.exp(-alpha)
        by_alpha = shrunk * (held * place - before) / (place * shrunk + 1) ** 2
        return (
            beta * float(chance @ (by_score[:, n:] * by_alpha).sum(axis=1)),
            float(chance @ (by_score * shares).sum(axis=1)),
            2 * float(chance @ slope),
        )

    return Landscape(loss, gradient, n)
