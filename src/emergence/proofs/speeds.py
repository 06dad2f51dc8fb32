"""The speeds of App. B.4 for many pairs, behind the laws at other rates.

s is the unnormalised attention to the target; `AREA` is the integral of exp(-u^2/2) from 0 to b.
"""

from functools import cache
from typing import NamedTuple

import sympy as sp

N, D, T, S, G, B = sp.symbols("N D t s gamma b", positive=True)
ALPHA = sp.Symbol("alpha", real=True)
AREA = sp.sqrt(sp.pi / 2) * sp.erf(B / sp.sqrt(2))
SHARE = sp.exp(ALPHA) / (sp.exp(ALPHA) + 2 * N - 2)  # of the last item in its label
_REST = 2 * N - 1
_LOSS = G**2 * (S**2 + _REST) / (S + _REST) ** 2 - 2 * G * S / (S + _REST) + 1  # App. B.3


class Speeds(NamedTuple):
    """Speeds of the three parameters, expressions in `ALPHA`, `B` and `G` (App. B.4).

    Attributes:
        alpha: that of alpha_3.
        beta: that of beta_2.
        gamma: that of gamma_3.
    """

    alpha: sp.Expr
    beta: sp.Expr
    gamma: sp.Expr


@cache
def late_speeds() -> Speeds:
    """Limits for many pairs at bounded alpha and beta, in units of 1/N^2, 1/N^2, 1/N (App. B.4)."""
    # derivatives of the loss through s = e^(beta g), where g is `SHARE`
    raised = sp.exp(B * SHARE)

    def limit(order: int, slope: sp.Expr) -> sp.Expr:
        moved = -(N**order) * slope.subs(S, raised)
        return sp.simplify(sp.limit(moved.subs(N, 1 / T), T, 0))

    by_score = sp.diff(_LOSS, S)
    by_alpha, by_beta = (by_score * sp.diff(raised, symbol) for symbol in (ALPHA, B))
    return Speeds(limit(2, by_alpha), limit(2, by_beta), limit(1, sp.diff(_LOSS, G)))


def leading_speeds() -> dict[str, sp.Expr]:
    """The speeds for many pairs and bounded s, compared with their limits (App. B.4)."""
    by_score = sp.limit(-N * S * sp.diff(_LOSS, S), N, sp.oo)
    late = late_speeds()
    return {
        "pull on the score": sp.simplify(by_score - G * S),
        "speed of gamma": sp.simplify(sp.limit(-N * sp.diff(_LOSS, G), N, sp.oo) - (S - G)),
        "speed of beta": sp.simplify(late.beta - G * sp.exp(ALPHA) / 2),
        "speed of alpha": sp.simplify(late.alpha - B * late.beta),
    }
