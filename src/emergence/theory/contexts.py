"""Effective context length (§7.2): repeated pairs, and layers that attend within a window.

The N places have orthonormal positions; copies of a pair have the same item and the same label.
"""

import math

import numpy as np
from jaxtyping import Int

from emergence.models import Windows

from ._flow import Landscape

Order = Int[np.ndarray, " places"]


def landscape(order: Order, pair: int, windows: Windows = (None, None)) -> Landscape:
    """The loss in a context when the query asks for one of its pairs, in O(N) (§7.2, App. B.3).

    Args:
        order: the pair at each of the N places, counted from 0.
        pair: the pair that the query asks for.
        windows: how many positions back a row of layers 1 and 2 attends, >= 1 each; None for all.

    Raises:
        ValueError: if the pair is not in the context or a window is empty.
    """
    # A row averages the positions that it attends to. Its share of the queried item is the number
    # of copies among them over the number of positions; a label counts its own item e^alpha times.
    is_asked = order == pair
    if not is_asked.any():
        raise ValueError(f"pair {pair} is not in the context")
    if any(window is not None and window < 1 for window in windows):
        raise ValueError(f"a window shows at least one position, got {windows}")
    n = len(order)
    first, second = (2 * n if window is None else window for window in windows)
    place = np.arange(n)
    before = np.concatenate([[0], np.cumsum(is_asked)])

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
        """The share of the queried item in every item row, then in every label row."""
        return np.concatenate([item, (in_label * shrunk + is_asked) / (others * shrunk + 1)])

    def forward(alpha, beta, gamma):
        """The attention of layer 2, the contents c that it retrieves, and the error gamma c - y."""
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
        by_alpha = shrunk * (is_asked * others - in_label) / (others * shrunk + 1) ** 2
        return (
            beta * float(by_score[n:] @ by_alpha),
            float(by_score @ held),
            float(2 * error @ retrieved),
        )

    return Landscape(loss, gradient, n)
