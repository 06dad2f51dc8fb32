"""The steps behind the laws of the chapter, each as a residual that must vanish."""

import sympy as sp

from emergence.proofs.speeds import ALPHA, AREA, D, N, T, late_speeds
from emergence.proofs.speeds import B as SCORE
from emergence.proofs.speeds import G as OUTPUT

B, R, RATE, G, NOISE = sp.symbols("B r lambda g sigma", positive=True)


def stretch_residuals() -> dict[str, sp.Expr]:
    """How long a stretch takes under AdamW, and what a larger batch saves.

    r is the ratio of signal to noise of one sequence, g/s; a coordinate moves
    l g / sqrt(g^2 + s^2/B).
    """
    speed = RATE * G / sp.sqrt(G**2 + NOISE**2 / B)
    wait = sp.sqrt(1 + 1 / (B * R**2)) / RATE  # of a stretch of length 1
    share = (NOISE**2 / B) / (G**2 + NOISE**2 / B)
    power = sp.simplify(B * sp.diff(sp.log(speed), B))
    return {
        "the wait of a stretch": sp.simplify(1 / speed - wait.subs(R, G / NOISE)),
        "power of the speed is half the share of noise": sp.simplify(power - share / 2),
        "no noise, no batch": sp.limit(power, NOISE, 0),
        "all noise, the root": sp.limit(power, NOISE, sp.oo) - sp.Rational(1, 2),
        "the wait times the root of B still grows with B": sp.simplify(
            B * sp.diff(sp.log(wait * sp.sqrt(B)), B) - B * R**2 / (2 * (B * R**2 + 1))
        ),
    }


def three_halves() -> dict[str, sp.Expr]:
    """Rates D, D, 1/D."""
    u = sp.Symbol("u", positive=True)
    slow = T / (N * D)  # gamma
    late = late_speeds()
    push = D * late.beta.subs({OUTPUT: slow, ALPHA: SCORE**2 / 2}) / N**2
    general = D**2 / (2 * N) * (u - 1 + sp.exp(-u))  # the integral of beta's pull up to u N D
    time = 2 * sp.sqrt(AREA) * N ** sp.Rational(3, 2)
    return {
        "speed of gamma": sp.diff(slow, T) - late.gamma.subs(OUTPUT, 0) / (N * D),
        "area swept": sp.simplify(sp.diff(T**2 / (4 * N**3), T) - sp.diff(AREA, SCORE) * push),
        "its time": sp.simplify(time**2 / (4 * N**3) - AREA),
        "one formula for all sizes": sp.simplify(
            sp.diff(general, u) - N * D * D * (1 - sp.exp(-u)) / (2 * N**2)
        ),
        "below N = D^2": sp.simplify(sp.series(general, u, 0, 3).removeO() - D**2 * u**2 / (4 * N)),
        "above N = D^2": sp.limit(general / u, u, sp.oo) - D**2 / (2 * N),
    }
