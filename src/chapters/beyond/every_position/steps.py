"""The steps behind the laws of a loss at every position, each as a residual that must vanish.

A prefix of n pairs has 2n rows; the answer's row has the raised score u and attention a, each other
row the attention o.
"""

import sympy as sp

N, U, G, T = sp.symbols("n u gamma tau", positive=True)
H, M, BETA, MEAN = sp.symbols("H M beta m", positive=True)
AREA = sp.sqrt(sp.pi / 2) * sp.erf(BETA / sp.sqrt(2))


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
    alpha = sp.Symbol("alpha", real=True)
    share, even = sp.exp(alpha) / (2 * N), 1 / (2 * N)
    push = 2 * even * share  # of beta on the clock of the area, before the mean over n
    slope = sp.exp(BETA**2 / 2) * MEAN / 2  # of beta, with the mean m of 1/n^2
    rate = sp.Symbol("h", positive=True)  # of gamma at small times, the mean of 1/n
    gaussian = sp.sqrt(2 * MEAN / rate)
    return {
        "a late prefix's push": sp.simplify(push - sp.exp(alpha) / (2 * N**2)),
        "alpha along beta": sp.simplify(sp.diff(BETA**2 / 2, BETA) - BETA),
        "the area": sp.simplify(sp.diff(2 * AREA / MEAN, BETA) - 1 / slope),
        "a slow gamma's area": sp.simplify(rate * gaussian**2 / 2 - MEAN),
    }


def scale_residuals() -> dict[str, sp.Expr]:
    """The scale of the weights n^-s."""
    y = sp.symbols("y", positive=True)
    return {
        # the push of the prefixes near e^beta for weights 1/n: a = 1/(1 + y), y = 2n/e^beta
        "an octave's push for weights 1/n": sp.integrate(2 * y / (1 + y) ** 3, (y, 0, sp.oo)) - 1,
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
