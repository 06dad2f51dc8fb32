"""The steps behind AdamW's dependence on the batch size, each as a residual that must vanish.

r is the ratio of signal to noise of one sequence, g/s; a coordinate moves l g / sqrt(g^2 + s^2/B).
"""

import sympy as sp

B, R, RATE, G, NOISE = sp.symbols("B r lambda g sigma", positive=True)


def clock() -> dict[str, sp.Expr]:
    """How long a stretch takes, and what a larger batch saves."""
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
