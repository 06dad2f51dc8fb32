"""The printed formulas of App. B.3-B.5 and B.7.3, compared with what the architecture gives."""

from typing import NamedTuple

import sympy as sp
from sympy import KroneckerDelta

from emergence.proofs.reduced import (
    ALPHA,
    BETA,
    GAMMA,
    N,
    S,
    derive_attention,
    derive_loss,
    rational,
)

G, F, R = sp.symbols("G F r", positive=True)  # the abbreviations of App. B.4.1


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
