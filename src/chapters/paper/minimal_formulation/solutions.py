"""Which weights solve the minimal task, for both masks and any query (Assumption 8, App. B.2).

Inputs are orthonormal. Four weights may have any value: alpha_3; beta_2, by which the query
attends to what a row holds; gamma_3; and beta_1, by which it attends to what a row is. The others
are zero.
The loss is then a sum over rows, in closed form. Everywhere `n_pairs` is N >= 1, `asked` counts the
pair asked for from 1 to N, and `mask` is `strict` or `causal`.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from emergence.models import Mask


class Contents(NamedTuple):
    """What the query retrieves in layer 2, as shares of attention that sum to 1."""

    target: float  # the label asked for
    own: float  # the query's own content: its item, and under the causal mask itself
    others: Float[np.ndarray, " others"]  # the other items and labels

    @property
    def squares(self) -> float:
        """The squared norm of what is retrieved."""
        return self.target**2 + self.own**2 + float(np.square(self.others).sum())


def item_shares(alpha: float, n_pairs: int, asked: int, mask: Mask) -> Float[np.ndarray, " rows"]:
    """How much of the item asked for each row holds after layer 1: 2N rows and the query's."""
    itself = 1 if mask == "causal" else 0
    pair = np.arange(1, n_pairs + 1)
    seen = 2 * pair - 2 + itself  # rows that the item of a pair sees; its label sees one more
    labels = np.where(pair == asked, np.exp(alpha), 1.0) / (seen + np.exp(alpha))
    items = np.where(seen > 0, 1 / np.maximum(seen, 1), 0.0)
    items = np.where((pair > asked) | ((pair == asked) & (itself > 0)), items, 0.0)
    query = (1 + itself) / (2 * n_pairs + itself)
    rows = np.stack([items, np.where(pair >= asked, labels, 0.0)], axis=1).ravel()
    return np.append(rows, query)


def retrieved(
    alpha: float, beta: float, n_pairs: int, asked: int, mask: Mask, *, beta_1: float = 0.0
) -> Contents:
    """What the query retrieves in layer 2 when it asks for this pair."""
    scores = beta * item_shares(alpha, n_pairs, asked, mask)
    item, label = 2 * asked - 2, 2 * asked - 1
    scores[[item, -1]] += beta_1
    if mask == "strict":
        scores = scores[:-1]
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    own_item = shares[item] + (shares[-1] if mask == "causal" else 0.0)
    others = np.delete(shares[: 2 * n_pairs], [item, label])
    return Contents(float(shares[label]), float(own_item), others)


def loss(
    alpha: float,
    beta: float,
    gamma: float,
    n_pairs: int,
    *,
    asked: int | None,
    mask: Mask,
    beta_1: float = 0.0,
) -> float:
    """The population loss, 1 at zero; where `asked` is None, of any pair equally often."""
    pairs = range(1, n_pairs + 1) if asked is None else (asked,)
    contents = [retrieved(alpha, beta, n_pairs, q, mask, beta_1=beta_1) for q in pairs]
    return float(np.mean([gamma**2 * c.squares - 2 * gamma * c.target + 1 for c in contents]))
