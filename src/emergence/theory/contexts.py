"""Effective context length (§7.2): contexts that repeat pairs, and layers that see a window.

A context fills N places with pairs, each place with an orthonormal position of its own; `order`
names the pair at every place. A repeated pair has the same item and the same label each time,
so that attention on any of its copies adds up.
"""

import math

import numpy as np
from jaxtyping import Int

from .landscape import Landscape
from .reduced import check_pairs, landscape_among

Order = Int[np.ndarray, " places"]


def cyclic(n_distinct: int, copies: int) -> Order:
    """Pairs 0, 1, .., K-1 in turn, B times over."""
    return np.tile(np.arange(n_distinct), copies)


def blocks(n_distinct: int, copies: int) -> Order:
    """Each pair B times in a row."""
    return np.repeat(np.arange(n_distinct), copies)


def landscape(order: Order, query: int) -> Landscape:
    """The loss in a context, in O(N), when the query asks for one of its pairs.

    Place n holds c earlier copies of the queried pair. Its item row averages 2n positions and has
    c/2n of the queried item; its label row has c/(2n + e^alpha), or (c + e^alpha)/(2n + e^alpha)
    if the pair is the queried one. Raises ValueError if the context lacks that pair.
    """
    asked = order == query
    if not asked.any():
        raise ValueError(f"pair {query} is not in the context")
    earlier = np.cumsum(asked) - asked
    twice = 2.0 * np.arange(len(order))
    item = np.divide(earlier, twice, out=np.zeros(len(order)), where=twice > 0)
    # contents: items 0..K-1, then labels
    count = int(order.max()) + 1
    contents = np.concatenate([order, order + count])
    goal = np.bincount([query + count], minlength=2 * count).astype(float)

    def shares(alpha):
        """What every item row, then every label row, has of the queried item."""
        grown = math.exp(alpha)
        return np.concatenate([item, (earlier + asked * grown) / (twice + grown)])

    def forward(alpha, beta, gamma):
        """Layer 2's attention, the contents it retrieves, and the error gamma times them - y."""
        held = shares(alpha)
        attention = np.exp(beta * (held - held.max()))
        attention /= attention.sum()
        retrieved = np.bincount(contents, weights=attention, minlength=2 * count)
        return held, attention, retrieved, gamma * retrieved - goal

    def loss(alpha, beta, gamma):
        error = forward(alpha, beta, gamma)[-1]
        return float(error @ error)

    def gradient(alpha, beta, gamma):
        held, attention, retrieved, error = forward(alpha, beta, gamma)
        by_score = 2 * gamma * attention * (error[contents] - error @ retrieved)
        grown = math.exp(alpha)
        by_alpha = grown * (asked * twice - earlier) / (twice + grown) ** 2
        return (
            beta * float(by_score[len(order) :] @ by_alpha),
            float(by_score @ held),
            float(2 * error @ retrieved),
        )

    return Landscape(loss, gradient, len(order))


def bursty(n_distinct: int, copies: int) -> Landscape:
    """K distinct pairs, each shown B times in turn; the query asks for the last of them."""
    check_pairs(min(n_distinct, copies))
    return landscape(cyclic(n_distinct, copies), n_distinct - 1)


def windowed(n_pairs: int, window_1: int, window_2: int) -> Landscape:
    """The query for the last pair when a row sees only so many positions before it, by layer.

    Windows of 2N - 1 and 2N change nothing. Raises ValueError for one that hides the answer.
    """
    check_pairs(n_pairs)
    if min(window_1, window_2) < 1:
        raise ValueError(f"a window shows at least one position, got {window_1}, {window_2}")
    rivals = min(window_1, 2 * n_pairs - 1) - 1, min(window_2, 2 * n_pairs) - 1
    return landscape_among(n_pairs, *rivals)
