"""The closed-form loss of App. B, derived from the architecture for a symbolic number of pairs N.

Inputs are orthonormal (Assumption 7), the query asks for pair N (Assumption 8), the mask is
strict (App. B.2). Every inner product is then a Kronecker delta, and every sum over positions a
sum over pairs k of an item row and a label row.
"""

from typing import NamedTuple

import sympy as sp
from sympy import KroneckerDelta, Sum

ALPHA, BETA, GAMMA = sp.symbols("alpha beta gamma", real=True)
N = sp.Symbol("N", integer=True, positive=True)
S, G, F, R = sp.symbols("s G F r", positive=True)  # the abbreviations of App. B.4.1
_K, _L = sp.symbols("k l", integer=True, positive=True)


class Attention(NamedTuple):
    """The query's attention in layer 2 to the label and the item of pair k, and the score r."""

    label: sp.Expr
    item: sp.Expr
    pair: sp.Symbol
    retrieved: sp.Expr  # e^alpha / (e^alpha + 2N - 2), what the last label holds of its item


def softmax_over_pairs(score: sp.Expr, pair: sp.Symbol, last: sp.Expr, others: sp.Expr) -> sp.Expr:
    """exp(score) over the sum of exp(score) for pairs 1..last plus `others` scores of zero.

    The score must be a multiple of a Kronecker delta, so that exp(c d) = 1 + (exp(c) - 1) d.
    """
    (delta,) = score.atoms(KroneckerDelta)
    height = score.coeff(delta)
    exponential = 1 + (sp.exp(height) - 1) * delta
    total = sum_over_pairs(exponential, pair, last) + others
    return exponential / total


def sum_over_pairs(summand: sp.Expr, pair: sp.Symbol, last: sp.Expr) -> sp.Expr:
    """The sum for pair = 1..last of an expression with deltas of `last`, whose range has it."""
    total = Sum(summand, (pair, 1, last)).doit()
    # SymPy keeps the condition 1 <= last <= last; it holds.
    return sp.simplify(sp.piecewise_fold(total).replace(sp.Piecewise, lambda *cases: cases[0][0]))


def derive_attention() -> Attention:
    """Run both attention layers on symbols (Eq. 1, App. B.3).

    Layer 1, row of label k: its position is Mp_k, so its score with item l is alpha (Mp_k).(Mp_l)
    = alpha delta_kl and with label l alpha (Mp_k).p_l = 0. Earlier rows are items 1..k and labels
    1..k-1. Layer 2, query row: the score of a row is beta times what it has retrieved of a_N.
    Only label N lies after item N, so every other row scores zero.
    """
    own_item = softmax_over_pairs(ALPHA * KroneckerDelta(_K, _L), _L, _K, others=_K - 1)
    retrieved = sp.simplify(own_item.subs(_L, _K).subs(_K, N))
    label = softmax_over_pairs(BETA * retrieved * KroneckerDelta(_K, N), _K, N, others=N)
    item = 1 / sp.denom(sp.together(label.subs(KroneckerDelta(_K, N), 0)))
    return Attention(label, item, _K, retrieved)


def derive_loss() -> sp.Expr:
    """The loss |gamma sum_j w_j x_j - b_N|^2 in an orthonormal basis, in alpha, beta, gamma, N."""
    attention = derive_attention()
    pair = attention.pair
    labels = (GAMMA * attention.label - KroneckerDelta(pair, N)) ** 2
    items = (GAMMA * attention.item) ** 2
    return sum_over_pairs(sp.expand(labels), pair, N) + N * items


def rational(expression: sp.Expr) -> sp.Expr:
    """The expression as a cancelled quotient in a = e^alpha, s = e^(beta r), beta, gamma and N."""
    power = BETA * sp.exp(ALPHA) / (sp.exp(ALPHA) + 2 * N - 2)
    in_s = expression.replace(
        lambda e: isinstance(e, sp.exp) and e.has(BETA), lambda e: S ** sp.simplify(e.exp / power)
    )
    return sp.cancel(sp.together(in_s.subs(sp.exp(ALPHA), sp.Symbol("a", positive=True))))


class Identity(NamedTuple):
    """Two expressions that the paper says are equal: what is printed and what we derive."""

    place: str
    printed: sp.Expr
    derived: sp.Expr

    def residual(self) -> sp.Expr:
        """Printed minus derived, the abbreviations written out, as of `rational`."""
        names = {G: sp.exp(ALPHA) + 2 * N - 2, F: 2 * N - 1, R: S + 2 * N - 1}
        return rational((self.printed - self.derived).subs(names))


def identities() -> list[Identity]:
    """The printed formulas of App. B.3-B.5 and B.7.3, each beside its derivation."""
    loss = derive_loss()
    attention = derive_attention()
    at_target = attention.label.subs(KroneckerDelta(attention.pair, N), 1)
    value = sp.exp(BETA * attention.retrieved)
    bracket = GAMMA**2 * (S - 1) / R**3 - GAMMA / R**2
    in_s = GAMMA**2 * (S**2 + F) / R**2 - 2 * GAMMA * S / R + 1
    by_s = sp.diff(in_s.subs({R: S + F}), S)
    e = sp.exp(ALPHA)
    d_alpha = 4 * BETA * (N - 1) * F * S * e / G**2 * bracket
    d_beta = 2 * F * S * e / G * bracket
    d_gamma = 2 * GAMMA * (S**2 + F) / R**2 - 2 * S / R
    speed = GAMMA / (S + 2 * N - 1) ** 2 - GAMMA**2 * (S - 1) / (S + 2 * N - 1) ** 3
    system = {
        ALPHA: 2 * BETA * (2 * N - 2) * (2 * N - 1) * S * e / (e + 2 * N - 2) ** 2 * speed,
        BETA: 2 * (2 * N - 1) * S * e / (e + 2 * N - 2) * speed,
        GAMMA: 2 * S / (S + 2 * N - 1) - 2 * GAMMA * (S**2 + 2 * N - 1) / (S + 2 * N - 1) ** 2,
    }
    ratio = BETA * (2 * N - 2) / (e + 2 * N - 2) * sp.diff(loss, BETA)
    return [
        Identity("B.3, attention to the target", S / (S + 2 * N - 1), at_target),
        Identity("B.3, loss", in_s, loss),
        Identity("B.4.2, dL/dgamma", d_gamma, sp.diff(loss, GAMMA)),
        Identity("B.4.3, dL/ds", 2 * F * bracket.subs(R, S + F), by_s),
        Identity("B.4.4, ds/dalpha", S * 2 * (N - 1) * BETA * e / G**2, sp.diff(value, ALPHA)),
        Identity("B.4.4, ds/dbeta", S * e / G, sp.diff(value, BETA)),
        Identity("B.4.6, dL/dalpha", d_alpha, sp.diff(loss, ALPHA)),
        Identity("B.4.6, dL/dbeta", d_beta, sp.diff(loss, BETA)),
        *(
            Identity(f"B.5, d{name}/dt", system[name], -sp.diff(loss, name))
            for name in (ALPHA, BETA, GAMMA)
        ),
        Identity("B.7.3, dalpha/dt over dbeta/dt", -ratio, -sp.diff(loss, ALPHA)),
    ]  # fmt: skip
