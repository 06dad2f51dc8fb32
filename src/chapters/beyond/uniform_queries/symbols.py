"""The steps behind the laws of uniform queries, each as a residual that must vanish.

h stands for e^alpha/2 and 1/e for log N; places count from 0.
"""

import sympy as sp

E, H, N, Q, B, A, F = sp.symbols("e h N q b a f", positive=True)


def uniform_residuals() -> dict[str, sp.Expr]:
    """Left side minus right side of every step for uniform queries, by what it says."""
    alpha = sp.Symbol("alpha", real=True)
    share = sp.exp(alpha) / (2 * Q + sp.exp(alpha))
    early_share = H / (Q + H)
    total = H * (sp.digamma(N + H) - sp.digamma(H))  # of `found` over q < N
    grown = sp.exp(B**2 / 2)
    gauss = sp.sqrt(sp.pi / 2) * sp.erf(B / sp.sqrt(2))
    # with h = e^(b^2/2 + e a)/2 the speed of beta is h (1 + e f)/e
    wait = 1 / (grown / 2 * sp.exp(E * A) * (1 + E * F))
    short = B - E * A / B  # where alpha = b^2/2 + e a is what b^2/2 was
    return {
        "retrieval of pair q": sp.simplify(share - early_share.subs(H, sp.exp(alpha) / 2)),
        "its derivative by alpha": sp.simplify(sp.diff(share, alpha) - share * (1 - share)),
        "sum over q, one term more": sp.simplify(
            sp.expand_func(total.subs(N, N + 1)) - sp.expand_func(total) - early_share.subs(Q, N)
        ),
        "sum over q, none": total.subs(N, 0),
        "leading time": sp.simplify(2 * sp.diff(gauss, B) - 2 / grown),
        "next order of the time": sp.simplify(wait.diff(E).subs(E, 0) + 2 / grown * (A + F)),
        "beta where alpha emerges": sp.simplify((short**2 / 2 + E * A).diff(E).subs(E, 0)),
    }
