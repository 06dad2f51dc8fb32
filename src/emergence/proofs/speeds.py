"""The steps behind the laws at other speeds, each as a residual that must vanish.

They belong to the chapters on real transformers and knock-in tests. F = 2N - 1 counts layer 2's
rivals, f is the retrieval of layer 1, s = exp(beta f); A is the integral of exp(-u^2/2) from 0 to
beta.
"""

import sympy as sp

N, D, T, S, F, G, B, KAPPA = sp.symbols("N D t s f gamma b kappa", positive=True)
AREA = sp.sqrt(sp.pi / 2) * sp.erf(B / sp.sqrt(2))
HALF = sp.Rational(1, 2)


def leading_speeds() -> dict[str, sp.Expr]:
    """The speeds of App. B.4 for many pairs and bounded s."""
    rest = 2 * N - 1
    loss = G**2 * (S**2 + rest) / (S + rest) ** 2 - 2 * G * S / (S + rest) + 1
    by_score = sp.limit(-N * S * sp.diff(loss, S), N, sp.oo)
    return {
        "pull on the score": sp.simplify(by_score - G * S),
        "speed of gamma": sp.simplify(sp.limit(-N * sp.diff(loss, G), N, sp.oo) - (S - G)),
    }


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


def knock_in() -> dict[str, sp.Expr]:
    """One parameter held."""
    alpha, held, x = sp.symbols("alpha a x", positive=True)
    gain = N * sp.integrate(x, (x, 0, B))  # of a gamma that stays ahead of 1
    return {
        "beta held": sp.simplify(
            sp.integrate(2 * N**2 * sp.exp(-x) / B, (x, 0, alpha))
            - 2 * N**2 * (1 - sp.exp(-alpha)) / B
        ),
        "alpha held": sp.simplify(HALF * 2 * N**2 * sp.exp(-held) - N**2 * sp.exp(-held)),
        "alpha saturated, gamma held": sp.simplify(
            sp.integrate(N * sp.exp(-x), (x, 0, HALF)) - N * (1 - sp.exp(-HALF))
        ),
        "gamma's start": sp.integrate(sp.exp(-x / N), (x, 0, sp.oo)) - N,
        "gamma held, beta": (N - gain).subs(B, HALF) - sp.Rational(7, 8) * N,
        "gamma held, alpha": (N - gain).subs(B, 1) - N / 2,
    }


def cross_entropy() -> dict[str, sp.Expr]:
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
