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
    """Where a position attends to itself: the first push on beta of a prefix of n pairs."""
    beta, label = sp.Symbol("beta"), 1 / (2 * N)
    shares = label, 1 / (2 * N - 1), 2 / (2 * N + 1)  # of the item: in the label, item and query
    raised = [sp.exp(beta * share) for share in shares]
    norm = sum(raised) + 2 * N - 2
    answer, same = raised[0] / norm, (raised[1] + raised[2]) / norm
    loss = G**2 * (answer**2 + same**2 + (2 * N - 2) / norm**2) - 2 * G * answer + 1
    mean, even = sum(shares) / (2 * N + 1), 1 / (2 * N + 1)
    wrong = shares[1] + shares[2] - 2 * mean
    push = -sp.diff(loss, beta).subs(beta, 0)
    return {
        "the first push": sp.simplify(push - 2 * G * even * (label - mean - G * even * wrong)),
        "of one pair, at gamma = 1": push.subs({N: 1, G: 1}) + sp.Rational(16, 81),
    }
