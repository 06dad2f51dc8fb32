"""The steps behind the laws of a loss at every position, each as a residual that must vanish.

A prefix of n pairs has 2n rows; the answer's row has the raised score u and attention a, each other
row the attention o.
"""

import sympy as sp

from emergence.proofs.speeds import ALPHA, AREA, B, late_speeds

N, U, G, T = sp.symbols("n u gamma tau", positive=True)
H, MEAN = sp.symbols("H m", positive=True)


def prefix_residuals() -> dict[str, sp.Expr]:
    """The loss of one prefix, and the gradient with respect to its scores."""
    rivals = 2 * N - 1
    a = U / (U + rivals)
    o = (1 - a) / rivals
    square = a**2 + rivals * o**2
    loss = G**2 * square - 2 * G * a + 1
    push = -U * sp.diff(loss, U)
    even = {U: 1}
    return {
        "a prefix's loss at gamma = 1": sp.cancel(loss.subs(G, 1) - (1 - a) ** 2 * 2 * N / rivals),
        "a score's push": sp.cancel(push - 2 * G * a * (1 - a) * (1 - G * (a - o))),
        "attention above even": sp.cancel(
            a - 1 / (2 * N) - rivals * (U - 1) / (2 * N * (U + rivals))
        ),
        "squares above even": sp.cancel(
            square - 1 / (2 * N) - rivals * (U - 1) ** 2 / (2 * N * (U + rivals) ** 2)
        ),
        "the answer ahead of the others": sp.cancel(a - o - (U - 1) / (U + rivals)),
        "gamma's pull at even attention": sp.cancel(
            (-sp.diff(loss, G) / 2).subs(even) - (1 - G) / (2 * N)
        ),
    }


def clock_residuals() -> dict[str, sp.Expr]:
    """gamma on the clock t/N, and what long prefixes add."""
    gamma = 1 - sp.exp(-H * T)
    k = sp.symbols("k", positive=True, integer=True)
    floor = H / (H + 2 * MEAN) * (1 - sp.exp(-(H + 2 * MEAN) * T))
    return {
        "gamma": sp.simplify(sp.diff(gamma, T) - H * (1 - gamma)),
        "its delay": sp.integrate(1 - gamma, (T, 0, sp.oo)) - 1 / H,
        "gamma's floor": sp.simplify(sp.diff(floor, T) - (H - (H + 2 * MEAN) * floor)),
        "prefixes beyond M": sp.simplify(sp.summation(1 / (k * (k - 1)), (k, 2, sp.oo)) - 1),
        "the same from any M on": sp.simplify(1 / (k * (k - 1)) - (1 / (k - 1) - 1 / k)),
    }


def late_residuals() -> dict[str, sp.Expr]:
    """Late prefixes: shares e^alpha/2n, attention 1/2n, the mean of 1/n^2 in the place of 1/N^2."""
    late = late_speeds()
    push = MEAN * late.beta / G  # with the mean m of 1/n^2, on the clock of the area
    return {
        "alpha along beta": sp.simplify(sp.diff(B**2 / 2, B) - late.alpha / late.beta),
        "the area": sp.simplify(sp.diff(2 * AREA / MEAN, B) - 1 / push.subs(ALPHA, B**2 / 2)),
        "the clock": sp.simplify(late.gamma - (1 - G)),
    }


def scale_residuals() -> dict[str, sp.Expr]:
    """The scale of the weights n^-s."""
    y, s = sp.symbols("y s", positive=True)
    prefix = {N: y * U / 2}  # y = 2n/e^beta at g = 1, where u is e^beta
    a = U / (U + 2 * N - 1)
    push = 2 * a * (1 - a) * (1 - (U - 1) / (U + 2 * N - 1))  # at gamma = 1
    near = sp.limit(push.subs(prefix), U, sp.oo)  # of the prefixes near e^beta
    weights = (N**-s * sp.diff(N.subs(prefix), y)).subs(prefix)  # with dn, by y
    return {
        "the push for weights 1/n": sp.integrate(
            sp.cancel(near * weights.subs(s, 1)), (y, 0, sp.oo)
        )
        - 1,
        "its exponent for weights n^-s": sp.simplify(U * sp.diff(sp.log(weights), U) - (1 - s)),
    }


def causal_residuals() -> dict[str, sp.Expr]:
    """Three parameters where a position attends to itself, up to the sum that decides.

    g is the share of its item in the last label, and m = 2n + 1 the number of rows.
    """
    beta, g = sp.symbols("beta g", real=True)
    shares = g, 1 / (2 * N - 1), 2 / (2 * N + 1)  # of the item: in the label, item and query
    w, *same = (sp.exp(beta * share) for share in shares)
    norm, others, twice = w + sum(same) + 2 * N - 2, 2 * N - 2, sum(shares[1:])
    p, square = w / norm, (w**2 + sum(same) ** 2 + others) / norm**2
    loss, m = G**2 * square - 2 * G * p + 1, 2 * N + 1
    push = 2 / m**2 * ((m - 1) * g - twice)
    push -= 2 * G / m**3 * (1 + 2 * (m - 2) / m - 2 * g)
    largest = push.subs(G, 0).subs(g, 1 / (m - 1))
    W, S = sp.symbols("w s", positive=True)
    ahead = (S * (W - S) - others * (1 - W)) / (W + S + others) ** 2  # p - R
    slope = (S + others) * (S + others - W) + 2 * (S**2 + others)
    highest = sp.cancel(ahead.subs(W, 1) - 1 / (8 * N * (2 * N - 1)))
    root = (2 * N - 1) / (4 * N - 1)
    return {
        "the push on alpha": sp.simplify(
            -sp.diff(loss, g) / (2 * beta * G * p) - (1 - p - G * (p - square))
        ),
        "p - R": sp.simplify(p - square - ahead.subs({W: w, S: sum(same)})),
        "the push on beta at beta = 0": sp.simplify(-sp.diff(loss, beta).subs(beta, 0) - G * push),
        "its largest value c": sp.cancel(largest - 2 * (m - 1) * (m - 4) / (m**3 * (m - 2))),
        "c in fractions": sp.cancel(largest - (1 / m - 1 / (m - 2)) / 2 - 3 / m**2 + 4 / m**3),
        "p - R grows with w": sp.cancel(sp.diff(ahead, W) * (W + S + others) ** 3 - slope),
        "p - R at w = 1, at most": sp.cancel(
            highest
            + (S - root) ** 2 * (4 * N - 1) ** 2 / (8 * N * (2 * N - 1) * (S + 2 * N - 1) ** 2)
        ),
        "of one pair, at gamma = 1": (push * G).subs({N: 1, G: 1, g: sp.S.Half})
        + sp.Rational(16, 81),
    }
