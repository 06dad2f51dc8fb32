"""Layers that a chain needs, by counting.

A token knows a span [low, high] of its chain: fact j starts with [j - 1, j], the query for d with
[d, d]. In a layer it may look at every fact whose span meets its own and then knows the union.
Merging is `forward` if a span attends only to spans that begin where it ends, as in pointer
doubling, and `both` if it attends in both directions. The rule is ours; the source's abstract gives
the bound t >= log_3(2D).
"""

from collections.abc import Sequence
from itertools import count
from typing import Literal

import sympy as sp

Merging = Literal["both", "forward"]
Span = tuple[int, int]


def initial_knowledge(n_hops: int) -> list[Span]:
    """What the facts 1 .. D of a chain and then the query for its last key know at first."""
    return [*((j - 1, j) for j in range(1, n_hops + 1)), (n_hops, n_hops)]


def layer(known: Sequence[Span], merging: Merging) -> list[Span]:
    """What all of them know one layer later; the query is heard by none."""
    *facts, _ = known
    return [_merged(span, facts, merging) for span in known]


def _merged(span: Span, others: Sequence[Span], merging: Merging) -> Span:
    low, high = span
    if merging == "forward":  # the key of the other is the far end of this one
        met = [other for other in others if other[1] == low]
    else:  # they share at least one symbol
        met = [other for other in others if other[0] <= high and low <= other[1]]
    return min([low, *(a for a, _ in met)]), max([high, *(b for _, b in met)])


def layers_needed(n_hops: int, merging: Merging) -> int:
    """The number of layers after which the query for the last key knows the end of its chain."""
    spans, n_layers = initial_knowledge(n_hops), 0
    while spans[-1][0] > 0:
        spans, n_layers = layer(spans, merging), n_layers + 1
    return n_layers


def reach_law(merging: Merging) -> tuple[sp.Expr, sp.Symbol]:
    """The reach as a function of t, solved from its recurrence: (3^t - 1)/2, or 2^t - 1.

    A fact's span grows by a span on each side (or one), the query's reach by one span.
    """
    t = sp.Symbol("t", integer=True, nonnegative=True)
    span, reached = sp.Function("F"), sp.Function("R")
    growth = 3 if merging == "both" else 2
    fact = sp.rsolve(span(t + 1) - growth * span(t), span(t), {span(0): 1})
    query = sp.rsolve(reached(t + 1) - reached(t) - fact, reached(t), {reached(0): 0})
    return sp.simplify(query), t


def least_layers(n_hops: int) -> int:
    """The least t with t >= log_3(2D), in whole numbers."""
    return next(t for t in count() if 3**t >= 2 * n_hops)
