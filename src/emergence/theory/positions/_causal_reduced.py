"""The three-parameter loss under the causal mask, where a position attends to itself as well.

In layer 1 item k attends to its 2k + 1 rows evenly, and label k to its own item with
e^alpha/(2k + 1 + e^alpha). The query, a copy of item q, finds item q twice among 2n + 1 rows. In
layer 2 it attends to itself too, so that item q is retrieved from two rows, whose attention is
summed before it is squared. A prefix of n pairs asked for its last thus has the scores
beta e^alpha/(2n - 1 + e^alpha) in the label, beta/(2n - 1) in the item and 2 beta/(2n + 1) in the
query itself. In the prefix of one pair both wrong rows hold more of the item than the label does:
a half, one and two thirds at alpha = 0. So it pushes beta down.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from jaxtyping import Float

from .._flow import Landscape
from ._weighting import BLOCK, Weighting, compressed

Later = Callable[[Any], Any]  # the sum over the pairs k > q of a prefix
Block = tuple[Any, Any, Any, Later]  # weights, sizes, the pairs asked for, and such sums


def landscape_of_last(weights: Weighting) -> Landscape:
    """The mean loss over prefixes, with queries for the last pair; the cost is of order N."""
    used, sizes = compressed(weights)
    # a last pair has no other after it
    return _landscape(weights, [(used, sizes, sizes - 1, lambda terms: 0 * terms)])


def landscape_of_any(weights: Weighting) -> Landscape:
    """The mean loss over prefixes, with queries for any pair; the cost is of order N log N."""
    return _landscape(weights, list(_blocks(*compressed(weights))))


def _landscape(weights: Weighting, blocks: list[Block]) -> Landscape:
    def means(alpha: float, beta: float, gamma: float) -> list[float]:
        parts = (weight * _prefix(alpha, beta, gamma, *block) for weight, *block in blocks)
        return sum(part.reshape(4, -1).sum(axis=1) for part in parts).tolist()

    return Landscape(
        lambda *point: means(*point)[0], lambda *point: tuple(means(*point)[1:]), len(weights)
    )


def _blocks(used: Weighting, sizes: np.ndarray) -> Iterator[Block]:
    """Blocks of prefixes, in rows, and of the pairs asked for, in columns."""
    for start in range(0, len(sizes), BLOCK):
        n = sizes[start : start + BLOCK, None]
        q = np.arange(n.max())

        def later(terms: np.ndarray, n: np.ndarray = n) -> np.ndarray:
            up_to = np.cumsum(terms)
            return up_to[n - 1] - up_to

        yield used[start : start + BLOCK, None] / n * (q < n), n, q, later


def _prefix(
    alpha: float, beta: float, gamma: float, n: Any, q: Any, later: Later
) -> Float[np.ndarray, "4 *any"]:
    """The loss of a prefix of n pairs asked for pair q, and its three derivatives."""
    raised = np.exp(alpha)
    item, label, query = 1 / (2 * q + 1), 1 / (2 * q + 1 + raised), 2 / (2 * n + 1)
    own_item = raised * label
    u, v, answer, itself = (np.exp(beta * share) for share in (item, label, own_item, query))
    norm = 2 * q + u + answer + itself + later(u + v)
    a, same = answer / norm, (u + itself) / norm
    square = a**2 + same**2 + (2 * q + later(u**2 + v**2)) / norm**2

    def slope(by_answer: Any, by_same: Any, by_late: Any) -> Any:
        """From the derivatives of the answer, of both rows of its item and of a late pair's two."""
        dx, dy = by_late
        by_norm = (by_answer + by_same + later(dx + dy)) / norm
        squares = a * by_answer + same * by_same + later(u * dx + v * dy) / norm
        return 2 * (
            gamma**2 * (squares / norm - square * by_norm)
            - gamma * (by_answer / norm - a * by_norm)
        )

    by_alpha = slope(
        beta * own_item * (1 - own_item) * answer, 0, (0 * u, -beta * label * own_item * v)
    )
    by_beta = slope(own_item * answer, item * u + query * itself, (item * u, label * v))
    loss = gamma**2 * square - 2 * gamma * a + 1
    return np.stack(np.broadcast_arrays(loss, by_alpha, by_beta, 2 * gamma * square - 2 * a))
