"""Effective context length (§7.2): repeated pairs, and layers that attend within a window.

A context has N places for pairs, each with its own orthonormal position; `order` names the pair at
every place. A repeated pair has the same item and the same label each time, so the attention to
its copies adds up.
"""

import math

import numpy as np
from jaxtyping import Int

from emergence.models import Windows

from ._flow import Landscape
from ._reduced import check_pairs

Order = Int[np.ndarray, " places"]


def cyclic(n_distinct: int, copies: int) -> Order:
    """The order in which K pairs come in turn, B times (§7.2).

    Args:
        n_distinct: pairs K, >= 1.
        copies: B, >= 1.

    Returns:
        The pair at each of the K B places, counted from 0.

    Example:
        >>> contexts.cyclic(2, 3).tolist()
        [0, 1, 0, 1, 0, 1]
    """
    return np.tile(np.arange(n_distinct), copies)


def blocks(n_distinct: int, copies: int) -> Order:
    """The order in which each of K pairs comes B times in a row (§7.2).

    Args:
        n_distinct: pairs K, >= 1.
        copies: B, >= 1.

    Returns:
        The pair at each of the K B places, counted from 0.

    Example:
        >>> contexts.blocks(2, 3).tolist()
        [0, 0, 0, 1, 1, 1]
    """
    return np.repeat(np.arange(n_distinct), copies)


def landscape(order: Order, pair: int, windows: Windows = (None, None)) -> Landscape:
    """The loss in a context when the query asks for one of its pairs, in O(N) (§7.2, App. B.3).

    A row averages the positions that it attends to. Its share of the queried item is the number of
    copies among them over the number of positions; a label counts its own item e^alpha times.

    Args:
        order: the pair at each of the N places, counted from 0.
        pair: the pair that the query asks for.
        windows: how many positions back a row of layers 1 and 2 attends, >= 1 each; None for all.

    Returns:
        The loss of alpha_3, beta_2 and gamma_3 and its gradient.

    Raises:
        ValueError: if the pair is not in the context or a window is empty.

    Example:
        >>> last = contexts.landscape(np.arange(4), 3)
        >>> abs(last.loss(0.3, 0.7, 0.5) - theory.reduced_loss(0.3, 0.7, 0.5, 4)) < 1e-12
        True
    """
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


def bursty(n_distinct: int, copies: int) -> Landscape:
    """The loss where K pairs come B times in turn and the query asks for the last pair (§7.2).

    Args:
        n_distinct: pairs K, >= 1.
        copies: B, >= 1.

    Returns:
        The loss of alpha_3, beta_2 and gamma_3 and its gradient.

    Raises:
        ValueError: if there is no pair or no copy.

    Example:
        >>> theory.times_in(contexts.bursty(8, 4)).alpha < theory.emergence_times(32).alpha
        True
    """
    check_pairs(min(n_distinct, copies))
    return landscape(cyclic(n_distinct, copies), n_distinct - 1)


def windowed(n_pairs: int, window_1: int | None, window_2: int | None) -> Landscape:
    """The loss of the last query when rows attend only within a window, by layer (§7.2).

    Args:
        n_pairs: pairs N in the context, >= 1.
        window_1: positions that a row of layer 1 attends to, >= 1; None for all.
        window_2: positions that a row of layer 2 attends to, >= 1; None for all.

    Returns:
        The loss of alpha_3, beta_2 and gamma_3 and its gradient.

    Raises:
        ValueError: if N < 1 or a window is empty.

    Example:
        >>> theory.times_in(contexts.windowed(32, 8, 64)).alpha < theory.emergence_times(32).alpha
        True
    """
    check_pairs(n_pairs)
    return landscape(np.arange(n_pairs), n_pairs - 1, (window_1, window_2))
