"""The closed-form loss of App. B, derived from the architecture for a symbolic N."""

from typing import NamedTuple

import sympy as sp
from sympy import KroneckerDelta, Sum

ALPHA, BETA, GAMMA = sp.symbols("alpha beta gamma", real=True)
N = sp.Symbol("N", integer=True, positive=True)
S = sp.Symbol("s", positive=True)  # e^(beta r), App. B.4.1
# Inputs are orthonormal (Assumption 7), the query asks for pair N (Assumption 8), the mask is
# strict (App. B.2). Every inner product is then a Kronecker delta, and every sum over positions a
# sum over pairs k of an item row and a label row.
_K, _L = sp.symbols("k l", integer=True, positive=True)


class QueryAttention(NamedTuple):
    """The query's attention in layer 2, symbolic in the pair and in N (App. B.3).

    Attributes:
        label: the attention to the label of the pair.
        item: the attention to its item.
        pair: the symbol that counts pairs from 1 to N.
        retrieved: e^alpha/(e^alpha + 2N - 2), the share of its item that the last label holds.
    """

    label: sp.Expr
    item: sp.Expr
    pair: sp.Symbol
    retrieved: sp.Expr  # e^alpha / (e^alpha + 2N - 2), what the last label holds of its item


def _softmax_over_pairs(score: sp.Expr, pair: sp.Symbol, last: sp.Expr, others: sp.Expr) -> sp.Expr:
    """exp(score) over the sum of exp(score) for pairs 1..last plus `others` scores of zero."""
    # the score is a multiple of a Kronecker delta d: exp(c d) = 1 + (exp(c) - 1) d
    (delta,) = score.atoms(KroneckerDelta)
    height = score.coeff(delta)
    exponential = 1 + (sp.exp(height) - 1) * delta
    total = _sum_over_pairs(exponential, pair, last) + others
    return exponential / total


def _sum_over_pairs(summand: sp.Expr, pair: sp.Symbol, last: sp.Expr) -> sp.Expr:
    """The sum for pair = 1..last of an expression with deltas of `last`, whose range has it."""
    total = Sum(summand, (pair, 1, last)).doit()
    # SymPy keeps the condition 1 <= last <= last; it holds.
    return sp.simplify(sp.piecewise_fold(total).replace(sp.Piecewise, lambda *cases: cases[0][0]))


def derive_attention() -> QueryAttention:
    """Run both attention layers on symbols (Eq. 1, App. B.3)."""
    # Layer 1, row of label k: its position is Mp_k, so its score with item l is alpha (Mp_k).(Mp_l)
    # = alpha delta_kl and with label l alpha (Mp_k).p_l = 0. Earlier rows are items 1..k and labels
    # 1..k-1. Layer 2, query row: the score of a row is beta times what it has retrieved of a_N.
    # Only label N lies after item N, so every other row scores zero.
    own_item = _softmax_over_pairs(ALPHA * KroneckerDelta(_K, _L), _L, _K, others=_K - 1)
    retrieved = sp.simplify(own_item.subs(_L, _K).subs(_K, N))
    label = _softmax_over_pairs(BETA * retrieved * KroneckerDelta(_K, N), _K, N, others=N)
    item = 1 / sp.denom(sp.together(label.subs(KroneckerDelta(_K, N), 0)))
    return QueryAttention(label, item, _K, retrieved)


def derive_loss() -> sp.Expr:
    """The loss, the squared norm of gamma sum_j w_j x_j - b_N, in an orthonormal basis (App. B.3).

    Returns:
        An expression in `reduced.ALPHA`, `reduced.BETA`, `reduced.GAMMA` and `reduced.N`.
    """
    attention = derive_attention()
    pair = attention.pair
    labels = (GAMMA * attention.label - KroneckerDelta(pair, N)) ** 2
    items = (GAMMA * attention.item) ** 2
    return _sum_over_pairs(sp.expand(labels), pair, N) + N * items


def rational(expression: sp.Expr) -> sp.Expr:
    """An expression as a cancelled quotient, so that equal ones have the same form (App. B.4).

    Args:
        expression: in `reduced.ALPHA`, `reduced.BETA`, `reduced.GAMMA` and `reduced.N`.

    Returns:
        The expression in a = e^alpha, s = e^(beta r), beta, gamma and N.
    """
    power = BETA * sp.exp(ALPHA) / (sp.exp(ALPHA) + 2 * N - 2)
    in_s = expression.replace(
        lambda e: isinstance(e, sp.exp) and e.has(BETA), lambda e: S ** sp.simplify(e.exp / power)
    )
    return sp.cancel(sp.together(in_s.subs(sp.exp(ALPHA), sp.Symbol("a", positive=True))))
