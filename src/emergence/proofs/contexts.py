"""The steps behind `theory.laws`, each as a residual that must vanish.

h stands for e^alpha/2 and L for log N; places and copies count from 0 and 1.
"""

import sympy as sp

E = sp.Symbol("e", positive=True)  # 1/L
H, N, Q, B, A, F = sp.symbols("h N q b a f", positive=True)
C, K = sp.symbols("c K", positive=True)


def uniform_residuals() -> dict[str, sp.Expr]:
    """Left side minus right side of every step for uniform queries, by what it says."""
    alpha = sp.Symbol("alpha", real=True)
    kept = sp.exp(alpha) / (2 * Q + sp.exp(alpha))
    found = H / (Q + H)
    total = H * (sp.digamma(N + H) - sp.digamma(H))  # of `found` over q < N
    grown = sp.exp(B**2 / 2)
    gauss = sp.sqrt(sp.pi / 2) * sp.erf(B / sp.sqrt(2))
    # with h = e^(b^2/2 + e a)/2 the speed of beta is h (1 + e f)/e
    wait = 1 / (grown / 2 * sp.exp(E * A) * (1 + E * F))
    short = B - E * A / B  # where alpha = b^2/2 + e a is what b^2/2 was
    return {
        "retrieval of pair q": sp.simplify(kept - found.subs(H, sp.exp(alpha) / 2)),
        "its derivative by alpha": sp.simplify(sp.diff(kept, alpha) - kept * (1 - kept)),
        "sum over q, one term more": sp.simplify(
            sp.expand_func(total.subs(N, N + 1)) - sp.expand_func(total) - found.subs(Q, N)
        ),
        "sum over q, none": total.subs(N, 0),
        "leading time": sp.simplify(2 * sp.diff(gauss, B) - 2 / grown),
        "next order of the time": sp.simplify(wait.diff(E).subs(E, 0) + 2 / grown * (A + F)),
        "beta where alpha emerges": sp.simplify((short**2 / 2 + E * A).diff(E).subs(E, 0)),
    }


def bursty_residuals() -> dict[str, sp.Expr]:
    """The same for K pairs, each shown B times in turn."""
    copies = sp.Symbol("B", integer=True, positive=True)
    alpha = sp.Symbol("alpha", positive=True)
    power = sp.exp(alpha)
    k = sp.Symbol("k", real=True)
    share = (C - 1 + power) / (2 * C * K)  # of the c-th copy's label row
    harmonic = sp.harmonic(copies)
    own = sp.summation(sp.expand(share), (C, 1, copies))
    # between copies c and c + 1 the rows' shares c/2n add up to c log((c + 1)/c), over both rows
    # in blocks all copies are at the end, and c - 1 of them come before the c-th
    in_block = sp.summation(sp.expand((C - 1 + power) / (2 * copies * K)), (C, 1, copies))
    closed = copies * sp.log(copies) - sp.loggamma(copies + 1)
    step = copies * sp.log((copies + 1) / copies)
    log_gamma = sp.loggamma(copies + 2) - sp.loggamma(copies + 1) - sp.log(copies + 1)
    half_square = alpha + k * (1 - sp.exp(-alpha))
    return {
        "sum over copies": sp.simplify(own - (copies + (power - 1) * harmonic) / (2 * K)),
        "sum over copies in a block": sp.simplify(in_block - (power + (copies - 1) / 2) / (2 * K)),
        "sum between copies, one copy more": sp.simplify(
            sp.expand_log(closed.subs(copies, copies + 1) - closed - step + log_gamma, force=True)
        ),
        "sum between copies, one copy": closed.subs(copies, 1),
        "the curve of alpha and beta": sp.simplify(
            sp.diff(half_square, alpha) - (power + k) / power
        ),
    }
