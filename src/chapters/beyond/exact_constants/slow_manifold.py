"""The exact time until a given beta, and its expansion, each step as a residual that must vanish.

e = 1/N, s = exp(beta g), G = N g, D = 1 + e (s - 1)/2, M = 1 + e (s^2 - 1)/2; u = sqrt(2 alpha).
`order` has the speeds from the architecture.
"""

import sympy as sp

E, S, HALF, BETA, GAMMA, U, V = sp.symbols("e s G beta gamma u v", positive=True)
GROWN = sp.Symbol("w", positive=True)  # e^(u^2/2)
D = 1 + E * (S - 1) / 2
M = 1 + E * (S**2 - 1) / 2
AREA = sp.sqrt(sp.pi / 2) * sp.erf(U / sp.sqrt(2))
GROWING = sp.sqrt(sp.pi / 2) * sp.erfi(U / sp.sqrt(2))


def residuals() -> dict[str, sp.Expr]:
    """Left side minus right side of every step, by what it says."""
    n_pairs, g = 1 / E, E * HALF
    p, o = S / (S + 2 * n_pairs - 1), 1 / (S + 2 * n_pairs - 1)
    h = p - o
    by_gamma = 2 * p - 2 * GAMMA * (p**2 + (2 * n_pairs - 1) * o**2)
    by_beta = 2 * (1 - p) * p * g * GAMMA * (1 - GAMMA * h)
    goal = S * D / M
    settled = (1 - E / 2) * S**2 * HALF / M**2  # N^2 V
    k = D / S * (1 - GAMMA * h / (1 - goal * h))
    slope = HALF * BETA * (1 - g) ** 2  # dG/dbeta on the curve, as dg/dalpha = g (1 - g)
    lead = V - 2 + (2 + V) * sp.exp(-V)
    steps = {
        "speed of gamma": n_pairs * by_gamma - (goal - GAMMA) * M / D**2,
        "speed of beta on the slow manifold": by_beta.subs(GAMMA, goal) - E**2 * settled,
        "the identity": by_beta / (E**2 * settled) + n_pairs * k * by_gamma - 1,
        "goal of gamma": goal - 1 - (1 - E / 2) * (S - 1) / M,
        "slope of the goal": sp.diff(goal, S) - (1 - E / 2) * (1 - E * (S - 1) ** 2 / 2) / M**2,
        "gamma relaxes at least at the rate 1/N": M - D**2 - E * (1 - E / 2) * (S - 1) ** 2 / 2,
        "M below s": S - M - (S - 1) * (1 - E * (S + 1) / 2),
        "1 - k at most": 1 - k.subs(GAMMA, goal) - (1 - E / 2) * (S - 1) / S - E * (S - 1) / 2,
        "beta by gamma": by_beta * D**2 / (E**2 * M)
        - (1 - E / 2) * (S * HALF / M) * GAMMA * (1 - GAMMA * h),
        "loss": GAMMA**2 * (p**2 + (2 * n_pairs - 1) * o**2)
        - 2 * GAMMA * p
        + 1
        - (1 - GAMMA * p) ** 2
        - GAMMA**2 * (1 - p) * o,
        "slope of beta G": HALF + BETA * slope - HALF * (1 + (BETA * (1 - g)) ** 2),
        "push on gamma as it rises": n_pairs * by_gamma
        - (1 - GAMMA)
        - (1 - E / 2) * (S - 1) / D
        + GAMMA * E * (1 - E / 2) * (S - 1) ** 2 / (2 * D**2),
    }
    rise = {
        "lead of gamma": sp.diff(lead, V) + lead - (V - 1 + sp.exp(-V)),
        "lead of gamma at ln 2": lead.subs(V, sp.log(2)) - sp.log(2) * sp.Rational(3, 2) + 1,
    }
    left = {name: sp.cancel(sp.together(step)) for name, step in steps.items()}
    return left | {name: sp.simplify(step) for name, step in rise.items()} | _orders()


def _orders() -> dict[str, sp.Expr]:
    """The time on the slow manifold to a u, order by order in e, in units of N^2."""
    grown = sp.exp(U**2 / 2)
    more = GROWN - 1
    square = U**2 + (E + E**2) * more  # beta^2
    beta = U + (E + E**2) * more / (2 * U) - E**2 * more**2 / (8 * U**3)
    speed = sp.expand(sp.diff(beta, U) + sp.diff(beta, GROWN) * U * GROWN)
    score = _cut(E * beta * GROWN / 2 * (1 - E * (GROWN - 2) / 2))
    weight = _cut(1 + E * (score + score**2))
    slowed = _cut(speed * weight**2 * (1 - 2 * score + 2 * score**2))  # over s^2
    wait = _cut(slowed * (2 + E * (GROWN - 2)) / GROWN * (1 + E / 2 + E**2 / 4))
    shrunk = sp.exp(-(U**2) / 2)
    times = (
        2 * AREA,
        2 * U - U**2 + (1 - shrunk) / U - 2 * AREA,
        1 + U + U**2 / 2 + (1 - U**2) / (2 * U**3) - (1 + U**2) * shrunk / (4 * U**3)
        + grown * (U - 1 + sp.Rational(3, 4) / U - 1 / (4 * U**3))
        - (5 * GROWING + 3 * AREA) / 4,
    )  # fmt: skip
    left = {"beta on the curve": _cut(beta**2) - _cut(square)}
    for k, time in enumerate(times):
        passed = wait.coeff(E, k).subs(GROWN, grown)
        difference = sp.expand(sp.diff(time, U) - passed).subs({shrunk: 1 / GROWN, grown: GROWN})
        left[f"time to an alpha, order {k}"] = sp.cancel(difference)
        left[f"its start, order {k}"] = sp.series(time, U, 0, 1).removeO()
    return left | _ends(times, grown / 2)


def _ends(times: tuple[sp.Expr, ...], half: sp.Expr) -> dict[str, sp.Expr]:
    """The time and e gamma* at the thresholds against what `every_n.constants` states."""
    root, eighth = sp.exp(sp.Rational(1, 2)), sp.exp(sp.Rational(1, 8))
    nought, first, second = times
    stated = {  # u to order e^2, and what is stated
        "alpha": (1, 0, 0, 3 - 1 / root, sp.Rational(5, 2) + root - 1 / (2 * root)),
        "beta": (
            sp.Rational(1, 2), 1 - eighth, (eighth - eighth**2) / 2,
            sp.Rational(7, 4), sp.Rational(5, 8) + 3 * eighth / 4,
        ),
    }  # fmt: skip
    left = {}
    for name, (u, by_e, by_square, linear, constant) in stated.items():
        order_1 = first + by_e * sp.diff(nought, U) + 1
        order_2 = (
            second + by_e * sp.diff(first, U) + by_square * sp.diff(nought, U)
            + by_e**2 * sp.diff(nought, U, 2) / 2 + half * U
        )  # fmt: skip
        left[f"N of T_{name}"] = sp.simplify((order_1 - linear + 2 * AREA).subs(U, u))
        area = (5 * GROWING + 3 * AREA) / 4
        left[f"constant of T_{name}"] = sp.simplify((order_2 - constant + area).subs(U, u))
    u = sp.Rational(1, 2) + E * (1 - eighth) + E**2 * (eighth - eighth**2) / 2
    power = eighth * (1 + E * (1 - eighth) / 2)  # of u^2/2, to order e
    curve = (1 - E) * (u**2 - sp.Rational(1, 4)) + E * (power - 1)
    return left | {"u where beta is one half": _cut(curve)}


def _cut(expression: sp.Expr) -> sp.Expr:
    """A polynomial in e up to e^2."""
    expanded = sp.expand(expression)
    return sp.expand(sum(expanded.coeff(E, k) * E**k for k in range(3)))
