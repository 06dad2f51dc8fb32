"""The speeds of App. B.4 for many pairs, behind the laws at other rates.

s is the unnormalised attention to the target; `AREA` is the integral of exp(-u^2/2) from 0 to b.
"""

import sympy as sp

N, D, T, S, G, B = sp.symbols("N D t s gamma b", positive=True)
AREA = sp.sqrt(sp.pi / 2) * sp.erf(B / sp.sqrt(2))


def leading_speeds() -> dict[str, sp.Expr]:
    """The speeds of App. B.4 for many pairs and bounded s, compared with their limits (App. B.4).

    Returns:
        For each step, the left side minus the right side, which must be 0.

    Example:
        >>> residuals.failed(speeds.leading_speeds())
        0
    """
    rest = 2 * N - 1
    loss = G**2 * (S**2 + rest) / (S + rest) ** 2 - 2 * G * S / (S + rest) + 1
    by_score = sp.limit(-N * S * sp.diff(loss, S), N, sp.oo)
    return {
        "pull on the score": sp.simplify(by_score - G * S),
        "speed of gamma": sp.simplify(sp.limit(-N * sp.diff(loss, G), N, sp.oo) - (S - G)),
    }
