"""Effective context length (§7.2): contexts that repeat pairs, and layers that see a window.

A context fills N places with pairs, each place with an orthonormal position of its own; `order`
names the pair at every place. A repeated pair has the same item and the same label each time,
so that attention on any of its copies adds up.
"""

import math

import numpy as np
from jaxtyping import Int

from emergence.models import Windows

from ._flow import Landscape
from ._reduced import check_pairs

Order = Int[np.ndarray, " places"]


def cyclic(n_distinct: int, copies: int) -> Order:
    """Pairs 0, 1, .., K-1 in turn, B times over."""
    return np.tile(np.arange(n_distinct), copies)


def blocks(n_distinct: int, copies: int) -> Order:
    """Each pair B times in a row."""
    return np.repeat(np.arange(n_distinct), copies)


def landscape(order: Order, pair: int, windows: Windows = (None, None)) -> Landscape:
    """The loss in a context, in O(N), when the query asks for one of its pairs.

    A row averages the positions it sees, and its share of the queried item is the number of
    copies among them over their number; a label counts its own item e^alpha times. A window
    limits how many positions back a row sees, by layer. Raises ValueError if the context lacks
    that pair or a window shows nothing.
    """
    asked = order == pair
    if not asked.any():
        raise ValueError(f"pair {pair} is not in the context")
    if any(window is not None and window < 1 for window in windows):
        raise ValueError(f"a window shows at least one position, got {windows}")
    n = len(order)
    first, second = (2 * n if window is None else window for window in windows)
    place = np.arange(n)
    before = np.concatenate([[0], np.cumsum(asked)])

    def copies_seen(row):
        """How many earlier places within the window hold the queried item."""
        return before[:-1] - before[np.maximum(0, (row - first + 1) // 2)]

    seen = np.minimum(2 * place, first)
    item = np.divide(copies_seen(2 * place), seen, out=np.zeros(n), where=seen > 0)
    in_label, others = copies_seen(2 * place + 1), np.minimum(2 * place + 1, first) - 1.0
    # contents: items 0..K-1, then labels
    count = int(order.max()) + 1
    contents = np.concatenate([order, order + count])
    goal = np.bincount([pair + count], minlength=2 * count).astype(float)
    visible = np.concatenate([2 * place, 2 * place + 1]) >= 2 * n - second

    def shares(shrunk):
        """What every item row, then every label row, has of the queried item."""
        return np.concatenate([item, (in_label * shrunk + asked) / (others * shrunk + 1)])

    def forward(alpha, beta, gamma):
        """Layer 2's attention, the contents it retrieves, and the error gamma times them - y."""
        held = shares(math.exp(-alpha))
        attention = visible * np.exp(beta * (held - held.max()))
        attention /= attention.sum()
        retrieved = np.bincount(contents, weights=attention, minlength=2 * count)
        return held, attention, retrieved, gamma * retrieved - goal

    def loss(alpha, beta, gamma):
        error = forward(alpha, beta, gamma)[-1]
        return float(error @ error)

    def gradient(alpha, beta, gamma):
        held, attention, retrieved, error = forward(alpha, beta, gamma)
        by_score = 2 * gamma * attention * (error[contents] - error @ retrieved)
        shrunk = math.exp(-alpha)
        by_alpha = shrunk * (asked * others - in_label) / (others * shrunk + 1) ** 2
        return (
            beta * float(by_score[n:] @ by_alpha),
            float(by_score @ held),
            float(2 * error @ retrieved),
        )

    return Landscape(loss, gradient, n)


def bursty(n_distinct: int, copies: int) -> Landscape:
    """K distinct pairs, each shown B times in turn; the query asks for the last of them."""
    check_pairs(min(n_distinct, copies))
    return landscape(cyclic(n_distinct, copies), n_distinct - 1)


def windowed(n_pairs: int, window_1: int | None, window_2: int | None) -> Landscape:
    """The query for the last pair when a row sees only so many positions back, by layer."""
    check_pairs(n_pairs)
    return landscape(np.arange(n_pairs), n_pairs - 1, (window_1, window_2))


def any_query(order: Order, windows: Windows = (None, None)) -> Landscape:
    """The mean loss when the query asks for any of the distinct pairs."""
    each = [landscape(order, int(pair), windows) for pair in np.unique(order)]

    def loss(*state):
        return float(np.mean([one.loss(*state) for one in each]))

    def gradient(*state):
        return tuple(np.mean([one.gradient(*state) for one in each], axis=0).tolist())

    return Landscape(loss, gradient, len(order))
