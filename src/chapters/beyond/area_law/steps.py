"""The steps behind `theory.area`, each as a residual that must vanish.

R is the attention to the answer and S the sum of squared attention; a query sees m rows, of which
row 0 has the answer. r and s are relative bounds on R and S.
"""

import sympy as sp

from emergence.proofs.speeds import ALPHA, AREA, B, N, T, late_speeds

Q, RHO = sp.symbols("q rho", positive=True)
GAMMA, R, S, LAMBDA = sp.symbols("gamma r s Lambda", positive=True)


def pull_residuals(rows: int = 4) -> dict[str, sp.Expr]:
    """The gradient with respect to a score, at any attention and for any contents."""
    raised = sp.symbols(f"u:{rows}", positive=True)  # e^score
    paid = [u / sum(raised) for u in raised]
    answer, square = paid[0], sum(a**2 for a in paid)
    loss = GAMMA**2 * square - 2 * GAMMA * answer + 1
    # two labels with two copies each: what is retrieved of them
    pairs = (paid[0] + paid[1]) ** 2 + (paid[2] + paid[3]) ** 2
    # cross-entropy over V words: the logit of a word in the context is gamma times its attention
    words = sp.Symbol("V", positive=True)
    logits = sum(sp.exp(GAMMA * a) for a in paid)
    entropy = sp.log(logits + words - rows) - GAMMA * answer
    speed = -sp.diff(entropy, GAMMA).subs(GAMMA, 0)
    even = dict.fromkeys(raised, 1)

    def by_score(value: sp.Expr, row: int) -> sp.Expr:
        return raised[row] * sp.diff(value, raised[row])

    return {
        "a score's push, by R and S": sp.cancel(
            -by_score(loss, 1) - GAMMA * (2 * by_score(answer, 1) - GAMMA * by_score(square, 1))
        ),
        "R, by the answer's score": sp.cancel(by_score(answer, 0) - answer * (1 - answer)),
        "R, by another score": sp.cancel(by_score(answer, 1) + answer * paid[1]),
        "S, by a score": sp.cancel(by_score(square, 1) - 2 * paid[1] * (paid[1] - square)),
        "S, by a score, at even attention": by_score(square, 1).subs(even),
        "the same with two copies of each": by_score(pairs, 1).subs(even),
        "cross-entropy, push at small gamma": sp.cancel(by_score(speed, 0) - by_score(answer, 0)),
        "cross-entropy, speed of gamma at zero": sp.cancel(
            speed.subs(even) - (1 - rows / words) / rows
        ),
    }


def share_residuals() -> dict[str, sp.Expr]:
    """Shares of the queried item, pair by pair, and the number of the data for late pairs."""
    own_share = sp.exp(ALPHA) / (2 * Q + sp.exp(ALPHA))
    later = 1 / (2 * Q + sp.exp(ALPHA))
    # late pairs: w = e^alpha/2q, so that both pulls are those of the last pair times Lambda
    late = late_speeds()
    pull = LAMBDA / N**2 * late.beta.subs(ALPHA, B**2 / 2) / GAMMA
    return {
        "the answer's share, by alpha": sp.simplify(
            sp.diff(own_share, ALPHA) - own_share * (1 - own_share)
        ),
        "a later label's share, by alpha": sp.simplify(
            sp.diff(later, ALPHA) + sp.exp(ALPHA) * later**2
        ),
        "a late pair's share": sp.limit(own_share * 2 * Q, Q, sp.oo) - sp.exp(ALPHA),
        "alpha on the way of beta": sp.simplify(sp.diff(B**2 / 2, B) - late.alpha / late.beta),
        "the area": sp.simplify(sp.diff(2 * AREA * N**2 / LAMBDA, B) - 1 / pull),
    }


def clock_residuals() -> dict[str, sp.Expr]:
    """gamma and its integral at even attention, and what bounds on R and S do to them."""
    u = RHO * T / N
    gamma = 1 - sp.exp(-u)
    area = T - N / RHO * gamma
    # gamma' = (rho/N)(r - s gamma): the path from zero
    slower = R / S * (1 - sp.exp(-S * u))
    return {
        "gamma": sp.simplify(sp.diff(gamma, T) - RHO / N * (1 - gamma)),
        "its integral": sp.simplify(sp.diff(area, T) - gamma),
        "long times": sp.limit(area / T, T, sp.oo) - 1,
        "short times": sp.simplify(sp.series(area, T, 0, 3).removeO() - RHO * T**2 / (2 * N)),
        "gamma between bounds": sp.simplify(sp.diff(slower, T) - RHO / N * (R - S * slower)),
        # the area is convex in t, as gamma grows: T(c area) <= c T(area) for c >= 1
        "convexity of the area": sp.simplify(sp.diff(area, T, 2) - RHO / N * sp.exp(-u)),
    }


def curriculum_residuals() -> dict[str, sp.Expr]:
    """The upper solution of any choice of queries, by u, which moves at exp(u^2/2) in t/N.

    There gamma is u, beta moves at gamma exp(beta) and alpha at gamma beta exp(beta)/4.
    """
    raised, row = sp.symbols("E j", positive=True)
    beta, alpha = B**2 / 2, B**4 / 32
    moved = raised / (2 * row + raised) ** 2  # a later label's share, by alpha
    return {
        "beta of the upper solution": sp.diff(beta, B) - B,
        "alpha of the upper solution": sp.diff(alpha, B) - B * beta / 4,
        "its time": sp.simplify(sp.diff(AREA, B) - sp.exp(-beta)),
        "alpha at u = 2": alpha.subs(B, 2) - sp.Rational(1, 2),
        "a later label's share moves by less than 1/8j": sp.simplify(
            1 / (8 * row) - moved - (2 * row - raised) ** 2 / (8 * row * (2 * row + raised) ** 2)
        ),
    }


def order_residuals(rows: int = 3) -> dict[str, sp.Expr]:
    """Why the two parameters cannot slow each other: the mixed derivative of R."""
    beta = sp.Symbol("beta", positive=True)
    shares, slopes = sp.symbols(f"x:{rows}"), sp.symbols(f"d:{rows}")  # their derivatives by alpha
    raised = sp.symbols(f"u:{rows}", positive=True)  # e^(beta x)
    paid = [u / sum(raised) for u in raised]
    each = list(zip(shares, slopes, raised, strict=True))

    def by_beta(value: sp.Expr) -> sp.Expr:
        return sp.diff(value, beta) + sum(x * u * sp.diff(value, u) for x, _, u in each)

    def by_alpha(value: sp.Expr) -> sp.Expr:
        return sum(d * (sp.diff(value, x) + beta * u * sp.diff(value, u)) for x, d, u in each)

    def mean(values: tuple[sp.Expr, ...]) -> sp.Expr:
        return sum(a * value for a, value in zip(paid, values, strict=True))

    lead, gain = shares[0] - mean(shares), slopes[0] - mean(slopes)
    spread = -sum(a * (x - mean(shares)) * d for a, x, d in zip(paid, shares, slopes, strict=True))
    return {
        "R, by beta": sp.cancel(by_beta(paid[0]) - paid[0] * lead),
        "R, by alpha": sp.cancel(by_alpha(paid[0]) - paid[0] * beta * gain),
        "G, by beta": sp.cancel(by_beta(gain) - spread),
        "R, by both": sp.cancel(
            by_alpha(by_beta(paid[0])) - paid[0] * (beta * gain * lead + gain + beta * spread)
        ),
    }
