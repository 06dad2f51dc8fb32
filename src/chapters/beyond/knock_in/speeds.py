"""The steps behind the laws of knock-in tests, each as a residual that must vanish."""

import sympy as sp

from emergence.proofs.speeds import ALPHA, AREA, SHARE, B, G, N, T, late_speeds

KAPPA = sp.Symbol("kappa", positive=True)
HALF = sp.Rational(1, 2)


def held_residuals() -> dict[str, sp.Expr]:
    """One parameter held."""
    held, x = sp.symbols("a x", positive=True)
    late = late_speeds()
    by_alpha, by_beta = (speed.subs(G, 1) / N**2 for speed in late[:2])
    ahead = sp.limit(N * (sp.exp(B * SHARE) - 1), N, sp.oo) / N  # of 1, where gamma follows s
    curve = (ahead / by_beta).subs(ALPHA, B**2 / 2).subs(B, x)
    gain = sp.integrate(sp.simplify(curve), (x, 0, B))
    return {
        "beta held": sp.simplify(
            sp.integrate(1 / by_alpha.subs(ALPHA, x), (x, 0, HALF))
            - 2 * N**2 * (1 - sp.exp(-HALF)) / B
        ),
        "alpha held": sp.simplify(HALF / by_beta.subs(ALPHA, held) - N**2 * sp.exp(-held)),
        "alpha saturated, gamma held": sp.simplify(
            sp.integrate(N * sp.exp(-x), (x, 0, HALF)) - N * (1 - sp.exp(-HALF))
        ),
        "gamma's start": sp.integrate(sp.exp(-x / N), (x, 0, sp.oo)) - N,
        "gamma held, beta": (N - gain).subs(B, HALF) - sp.Rational(7, 8) * N,
        "gamma held, alpha": (N - gain).subs(B, 1) - N / 2,
    }


def cross_entropy_residuals() -> dict[str, sp.Expr]:
    """The same head with a cross-entropy over K = N/(1 - kappa) labels."""
    gamma = KAPPA * T / (2 * N)
    time = 4 * sp.sqrt(AREA / KAPPA) * N ** sp.Rational(3, 2)
    n_labels = N / (1 - KAPPA)
    return {
        "speed of gamma": sp.simplify((1 - N / n_labels) / (2 * N) - sp.diff(gamma, T)),
        "its time": sp.simplify(gamma.subs(T, N / KAPPA) - HALF),
        "area swept": sp.simplify(
            sp.diff(KAPPA * T**2 / (16 * N**3), T) - gamma / (2 * N) / (2 * N)
        ),
        "time of an area": sp.simplify(KAPPA * time**2 / (16 * N**3) - AREA),
    }
