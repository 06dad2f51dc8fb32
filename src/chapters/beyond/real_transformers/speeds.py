"""The steps behind the laws at the rates of a transformer, each as a residual that must vanish."""

import sympy as sp

from emergence.proofs.speeds import AREA, B, D, N, T


def three_halves() -> dict[str, sp.Expr]:
    """Rates D, D, 1/D."""
    u = sp.Symbol("u", positive=True)
    slow = T / (N * D)  # gamma
    general = D**2 / (2 * N) * (u - 1 + sp.exp(-u))  # the integral of beta's pull up to u N D
    time = 2 * sp.sqrt(AREA) * N ** sp.Rational(3, 2)
    return {
        "area swept": sp.simplify(sp.diff(T**2 / (4 * N**3), T) - D * slow / (2 * N**2)),
        "its time": sp.simplify(time**2 / (4 * N**3) - AREA),
        "speed of the area": sp.simplify(sp.diff(AREA, B) - sp.exp(-(B**2) / 2)),
        "one formula for all sizes": sp.simplify(
            sp.diff(general, u) - N * D * D * (1 - sp.exp(-u)) / (2 * N**2)
        ),
        "below N = D^2": sp.simplify(sp.series(general, u, 0, 3).removeO() - D**2 * u**2 / (4 * N)),
        "above N = D^2": sp.limit(general / u, u, sp.oo) - D**2 / (2 * N),
    }
