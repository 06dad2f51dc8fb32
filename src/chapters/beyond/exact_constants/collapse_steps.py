"""The steps behind the collapse time, each as a residual that must vanish.

b = 1/eta is the late beta, b e^(b^2/2) = 2N. x = beta g, r = g/(1 - g), and d = 1/(2N - 2). What is
of order 1/N beside the rest is left out from "the late curve" on.
"""

import sympy as sp

ETA, X, N, GAMMA, BETA, ALPHA = sp.symbols("eta x N gamma beta alpha", positive=True)
ORDERS = 3  # kept of a series in eta: 1, eta, eta^2
ROOT = sp.sqrt(2 * sp.pi)


def residuals() -> dict[str, sp.Expr]:
    """Left side minus right side of every step, by what it says."""
    return {**_exact(), **_order_by_order(), **_gamma()}


def _exact() -> dict[str, sp.Expr]:
    """What holds along the flow at every N; g and e^x are free but for the curve."""
    g, s = sp.symbols("g s", positive=True)
    p, o = s / (s + 2 * N - 1), 1 / (s + 2 * N - 1)
    h, norm = p - o, p**2 + (2 * N - 1) * o**2
    by_beta = 2 * (1 - p) * p * g * GAMMA * (1 - GAMMA * h)
    by_gamma = 2 * p - 2 * GAMMA * norm
    x_by_beta = g + BETA * g * (1 - g) * BETA * (1 - g)  # d alpha/d beta = beta (1 - g)
    square = (BETA * g) ** 2 * (1 - g) ** 2 + g**2
    small, large = 1 + (s - 1) / (2 * N), 1 + (s**2 - 1) / (2 * N)  # D and M
    stated = (1 - GAMMA * large / (s * small)) / (GAMMA * (1 - p) * (1 - GAMMA * h) * square)
    r, d = g / (1 - g), 1 / (2 * N - 2)
    power = (2 * N - 2) * r  # e^alpha
    curve = 2 * (sp.log(power) + d * (power - 1))  # beta^2
    return {
        "speed of x by beta": sp.factor(x_by_beta - g * (1 + BETA**2 * (1 - g) ** 2)),
        "speed of gamma by x": sp.cancel(sp.together(by_gamma / (by_beta * x_by_beta) - stated)),
        "one over g": sp.cancel(1 / g - 1 - 1 / r),
        "the tail on the curve": sp.simplify(
            sp.expand_log(-curve / 2 - sp.log(sp.exp(d - r) / power), force=True)
        ),
    }


def _order_by_order() -> dict[str, sp.Expr]:
    """Terms of the time without the integral of e^-x gamma, in units of N, up to eta^2."""
    # beta at x = 1 up to eta^3, from the curve b^2/2 + ln b = beta^2/2 + ln beta + ln(1 - g) - r
    beta = 1 / ETA + 2 * ETA**2 + sp.Rational(3, 2) * ETA**3
    g = 1 / beta
    curve = (beta**2 - ETA**-2) / 2 + sp.log(beta * ETA) + sp.log(1 - g) - g / (1 - g)
    mills = 1 / beta - 1 / beta**3  # of the Gaussian's tail, up to beta^-5
    grown = 2 * beta - beta**2 - 2 / ETA + ETA**-2  # 2 beta - beta^2 beside that of b
    tail = (beta - 1) * sp.exp(-1 / (beta - 1)) * mills
    ratio = X * ETA / (1 - X * ETA)  # r, where beta is b up to the orders kept
    width = 1 / (ETA * X * (1 + (1 / ETA - X) ** 2))  # d beta/dx
    lost = _series((1 - (1 - sp.exp(-ratio)) / ratio) * width)
    shape = _series(1 / ((1 - X * ETA) ** 2 + ETA**2))  # x^2/F
    even = (2 * N - 3) * sp.sqrt(sp.pi / 2) / (1 - 1 / (2 * N))  # of the Gaussian's whole area
    residuals = {
        "beta where x is one": _series(curve),
        "terms with the area": sp.limit(even - ROOT * (N - 1), N, sp.oo),
        "shape of the late speed": sp.expand(shape - 1 - 2 * X * ETA - (3 * X**2 - 1) * ETA**2),
    }
    beyond = sp.Integer(0)  # the integral of e^-2x/g d beta beside -beta^2, by powers of x
    for k, (above, below) in enumerate(_primitives()):
        residuals[f"integral over x, power {k}"] = sp.expand(
            X**2 * (sp.diff(above, X) * sp.exp(2 * X) - X ** (k - 2))
        ) + sp.expand(X**2 * (sp.diff(below, X) - (2 * X - 1) * X ** (k - 2)))
        start = sp.limit(above + below, X, 0)
        beyond += shape.coeff(X, k) * (below.subs(X, 1) - start)
    left = _series(grown - tail) - sp.integrate(lost, (X, 0, 1)) + beyond
    known = 2 * (sp.EulerGamma + sp.log(2))  # kappa, what the integrals over x leave
    wanted = known - 2, 2 - known, sp.Rational(7, 2) - known
    for k, constant in enumerate(wanted):
        residuals[f"constant of order {k}"] = sp.simplify(sp.expand(left).coeff(ETA, k) - constant)
    return residuals


def _primitives() -> list[tuple[sp.Expr, sp.Expr]]:
    """Of e^-2x x^(k-2), zero at infinity, and of (2x - 1) x^(k-2), whose sum is finite at zero."""
    fall, tail = sp.exp(-2 * X), sp.expint(1, 2 * X)
    return [
        (2 * tail - fall / X, 1 / X + 2 * sp.log(X)),
        (-tail, 2 * X - sp.log(X)),
        (-fall / 2, X**2 - X),
    ]


def _gamma() -> dict[str, sp.Expr]:
    """gamma at a given x, order by order, and how it starts."""
    zeroth, first, second = (sp.Function(f"G{k}")(X) for k in range(3))
    path = zeroth + ETA * first + ETA**2 * second
    speed = (1 / GAMMA - sp.exp(-X)) / X**2
    at = {GAMMA: zeroth}
    f, by, twice = speed, sp.diff(speed, GAMMA), sp.diff(speed, GAMMA, 2)
    shape = 1 + 2 * X * ETA + (3 * X**2 - 1) * ETA**2
    wanted = (
        f,
        2 * X * f + by * first,
        (3 * X**2 - 1) * f + 2 * X * by * first + by * second + twice * first**2 / 2,
    )
    grown = _series(shape * speed.subs(GAMMA, path))
    residuals = {
        f"speed of gamma, order {k}": sp.simplify(grown.coeff(ETA, k) - part.subs(at))
        for k, part in enumerate(wanted)
    }
    bound = sp.exp(X) - 2 * X**2  # gamma is above it for small x: its slope is the smaller one
    room = sp.series(speed.subs(GAMMA, bound) - sp.diff(bound, X), X, 0, 1).removeO()
    return {**residuals, "room below gamma at zero": room - 1}


def _series(expression: sp.Expr) -> sp.Expr:
    """A series in eta up to eta^2."""
    return sp.expand(sp.series(expression, ETA, 0, ORDERS).removeO())
