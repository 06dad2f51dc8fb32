"""What queries ask for: the last pair of each prefix, or any pair of one or of many."""

from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from emergence.models import Mask
from emergence.tasks import Query

Model = Literal["reduced", "full"]  # the three parameters of §6, or the 19 of Theorem 1
Row = Float[np.ndarray, " pairs"]
Sizes = Int[np.ndarray, " prefixes"]
Each = Any  # a number, or one for each prefix, pair, or both: (prefixes, pairs)
BLOCK = 64  # prefixes at once, so that a block's matrices fit the processor's cache


class Questions(NamedTuple):
    """The pairs that queries ask for: the last of each prefix, or any pair of one or of many."""

    full: bool  # whether all parameters are free, or three
    causal: bool  # whether a row attends to itself
    any_pair: bool  # whether there are pairs after the one asked for
    weight: Each  # of each question in the loss
    n: Each  # pairs of each prefix; (prefixes, 1) with any pair of many
    last: Each  # k of the last pair of each prefix
    before: Each  # 2q, the rows before each pair asked for
    some: Each  # 1 if there are any, else 0
    rows: Each  # 2k, the rows before each pair of the context
    later: Each  # 1 if there are any, else 0
    present: Each = 1.0  # 1 for the pairs of each prefix, 0 for later ones

    @classmethod
    def of(
        cls, rule: tuple[bool, bool, bool], weight: Each, n: Each, q: Each, k: Each, **parts: Each
    ) -> "Questions":
        """Pairs q of prefixes with n pairs, in a context of pairs k; `rule` has the first three."""
        q, k = 2.0 * q, 2.0 * k
        some, later = np.minimum(q, 1), np.minimum(k, 1)
        return cls(*rule, weight, 1.0 * n, n - 1, q, some, k, later, **parts)


def questions(
    weights: Row, sizes: Sizes, query: Query, model: Model, mask: Mask
) -> list[Questions]:
    """What prefixes with so many pairs are asked for, in blocks."""
    rule, one = (model == "full", mask == "causal", query == "uniform"), len(sizes) == 1
    if query == "last":
        if one:  # a number is faster than an array of one
            weights, sizes = weights[0], sizes[0]
        pairs = np.arange(np.max(sizes)) if model == "full" else sizes - 1
        return [Questions.of(rule, weights, sizes, sizes - 1, pairs)]
    blocks = []
    for start in range(0, len(sizes), BLOCK):
        part = 0 if one else (slice(start, start + BLOCK), None)
        pairs, n = np.arange(np.max(sizes[part])), sizes[part]
        present = 1.0 * (pairs < n)
        weight = weights[part] / n * present
        blocks.append(Questions.of(rule, weight, n, pairs, pairs, present=present))
    return blocks
