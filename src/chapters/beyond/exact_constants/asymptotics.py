"""The expansions in e = 1/N behind `theory.limits`, each as a residual that must vanish."""

import sympy as sp

E = sp.Symbol("e", positive=True)  # 1/N
B, U, V = sp.symbols("b u v", positive=True)  # beta, beta or time/N along the way
W = sp.Symbol("w", positive=True)  # e^(b^2/2)
C, Y, GAMMA = sp.symbols("c y gamma", positive=True)
ORDER = 4  # of the polynomials in e


def residuals() -> dict[str, sp.Expr]:
    """What is left of each step of the derivation, by name."""
    # alpha = b^2/2 + e first, and e^alpha to the same order
    first = -(W - 1) / 2
    power = W * (1 + E * first)
    integral = power - 1 + (2 / E - 2) * (B**2 / 2 + E * first) - (1 / E - 1) * B**2

    retrieval = _series(power * E / (power * E + 2 - 2 * E))
    x = B * retrieval
    signal = 1 + x + x**2 / 2
    others = _series(E / (2 - E + E * signal))  # the attention to each other position
    target = _series(signal * others)
    norm = _series(target**2 + (2 / E - 1) * others**2)
    settled = _series(target / norm)
    push = settled - settled**2 * (target - others)
    speed = _series(2 * (2 / E - 1) * target * others * retrieval * push)
    stated = E**2 * W / 2 * (1 + E * (B * W + 1 - W))

    grown = sp.exp(U**2 / 2)
    wait = 2 / grown * (1 - E * (U * grown + 1 - grown))
    gauss = sp.sqrt(sp.pi / 2) * sp.erf(U / sp.sqrt(2))
    time = 2 * gauss + E * (2 * U - U**2 - 2 * gauss)

    root = sp.exp(sp.Rational(1, 2))
    beta_half = 1 + E * (root - 1) / 2
    alpha_there = beta_half**2 / 2 - E * (root - 1) / 2  # w is root to this order

    rise = sp.integrate(1 - sp.exp(-V), (V, 0, U))  # of beta, in units of 1/2N
    # while gamma rises, beta = e c/2 with c of order one and x = e^2 y
    early_retrieval = _series(E / (2 - E))  # alpha = O(e^2) changes it by O(e^3)
    x_early = E / 2 * C * early_retrieval
    stated_x = E**2 / 4 * C * (1 + E / 2)
    y = E**2 * Y
    others_early = _series(E / (2 + E * y))
    target_early = sp.expand((1 + y) * others_early)  # y^2 is O(e^4)
    norm_early = sp.expand(target_early**2 + (2 / E - 1) * others_early**2)
    speed_early = sp.expand(2 * (target_early - GAMMA * norm_early) / E)
    push_early = GAMMA - GAMMA**2 * (target_early - others_early)
    beta_early = 2 * (2 / E - 1) * target_early * others_early * early_retrieval * push_early / E
    both = (1 - E / 2) * stated_x - E**2 / 4 * C
    lag = sp.integrate(sp.expand(sp.exp(V - U) * (V - 1 + sp.exp(-V))), (V, 0, U)) / 4
    shift = -2 * lag.subs(U, sp.log(2))  # gamma rises at the speed 1/2 there
    return {
        "alpha of the first integral": _up_to(integral, 0),
        "speed of beta": _up_to(speed - stated, 3),
        "time to a beta": sp.simplify(sp.diff(time, U) - wait),
        "beta where alpha is one half": _up_to(alpha_there - sp.Rational(1, 2), 1),
        "delay while gamma rises": sp.limit(rise - U, U, sp.oo) + 1,
        "speed of beta while gamma rises": _up_to(beta_early - E / 2 * GAMMA, 2),
        "x while gamma rises": _up_to(x_early - stated_x, 3),
        "speed of gamma while it rises": _up_to(speed_early - 1 + GAMMA - (1 - E / 2) * y, 3),
        "the two terms in e^3": _up_to(both, 3),
        "next order of gamma": sp.simplify(shift + 3 * sp.log(2) / 4 - sp.Rational(1, 2)),
    }


def _series(expression: sp.Expr) -> sp.Expr:
    """A rational function of e as a polynomial up to e^4, coefficient by coefficient."""
    above, below = (sp.Poly(part, E) for part in sp.fraction(sp.together(expression)))
    shift = min(power for (power,) in below.monoms())
    top, bottom = (
        [part.coeff_monomial(E ** (k + lead)) for k in range(ORDER + 1)]
        for part, lead in ((above, shift), (below, shift))
    )
    quotient: list[sp.Expr] = []
    for k in range(ORDER + 1):
        known = sum(quotient[j] * bottom[k - j] for j in range(k))
        quotient.append(sp.expand((top[k] - known) / bottom[0]))
    return sum(factor * E**k for k, factor in enumerate(quotient))


def _up_to(expression: sp.Expr, order: int) -> sp.Expr:
    """Zero if a polynomial in e and 1/e is O(e^(order + 1)), else what stands in its way."""
    terms = sp.expand(expression).as_coefficients_dict(E)
    return sp.expand(sum(c * m for m, c in terms.items() if sp.degree(m * E**9, E) - 9 <= order))
