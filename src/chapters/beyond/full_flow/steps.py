"""The steps behind `laws`, each as a residual that must vanish.

e stands for e^alpha_3, m for the number of rows, s and t for rows of the context.
"""

import sympy as sp

E, K, N, M = sp.symbols("e k N m", positive=True)
T, B, G = sp.symbols("t b g", positive=True)


def recency_residuals() -> dict[str, sp.Expr]:
    """How the query for the last pair drives alpha_3 when beta is zero."""
    label = 1 / (2 * K + E)
    own = E * label
    # what rows pass on: to item k, and on the mean to the 2k rows before it, from up to label k
    to_item, to_earlier = own, (2 * K - 1 + 1 + (1 - own)) / (2 * K)
    term = 2 * K * (2 * K + 1) * E / (2 * K + E) ** 3
    z = 1 + E / 2

    def closed(pairs: sp.Expr) -> sp.Expr:
        """The sum of the terms over e, for k = 1 .. pairs - 1."""
        shift = pairs + E / 2
        return (
            (sp.digamma(shift) - sp.digamma(z)) / 2
            + (2 * E - 1) / 4 * (sp.polygamma(1, shift) - sp.polygamma(1, z))
            + E * (E - 1) / 16 * (sp.polygamma(2, shift) - sp.polygamma(2, z))
        )

    more = sp.expand_func(closed(N + 1)) - sp.expand_func(closed(N))
    return {
        "a label's attention to its item, by alpha": sp.simplify(
            E * sp.diff(own, E) - own * (1 - own)
        ),
        "to each row before it, by alpha": sp.simplify(E * sp.diff(label, E) + own * label),
        "what item k lacks beside the rows before it": sp.simplify(
            to_earlier - to_item - (1 + label - own)
        ),
        "term k of the push": sp.simplify(own * (1 - own) * (1 + label - own) - term),
        "their sum, one pair more": sp.simplify(more - term.subs(K, N) / E),
        "their sum, one pair": sp.simplify(closed(sp.Integer(1))),
        **{f"the push of the network, N = {n}": _pushed(n) for n in (2, 3)},
    }


def quick_residuals() -> dict[str, sp.Expr]:
    """The quick phase of the output: the landscape on the clock t/N and its path from zero."""
    # a row m after rows 0 .. m - 1 passes 1/m on to each; their sum was m - 1
    squares = 2 * (M - 1) / M + M / M**2
    g, gamma_4, mean, total = sp.symbols("g gamma_4 mu Sigma")
    # output (g + gamma_4 mu_t)/2N on row t: the sum of mu is 2N - 1, that of its squares Sigma
    rows = 2 * N
    loss = (rows * g**2 + 2 * g * gamma_4 * (rows - 1) + gamma_4**2 * total) / rows**2
    loss -= 2 * (g + gamma_4 * mean) / rows
    most = 2 * (rows - 1) - sp.log(rows)  # of Sigma, for many pairs
    quick = g**2 + 2 * g * gamma_4 + 2 * gamma_4**2 - 2 * g - 2 * mean * gamma_4
    speeds_of = [-sp.diff(quick, symbol) / 2 for symbol in (g, gamma_4)]
    root = sp.sqrt(2)
    fade, c, s = sp.exp(-2 * T), sp.cosh(root * T), sp.sinh(root * T)
    last = 1 - fade * (c + s / root), -1 + fade * (c + root * s)
    any_pair = sp.Rational(1, 2) - fade * c / 2, fade * s / root

    def left_over(path: tuple[sp.Expr, sp.Expr], wanted: int) -> dict[str, sp.Expr]:
        """Of gamma_2 = gamma_3 = gamma and gamma_4 on the landscape of these N."""
        gamma, fourth = path
        at = {g: 2 * gamma, gamma_4: fourth, mean: wanted}
        speeds = [speed.subs(at) for speed in speeds_of]
        return {
            f"speed of {name}": sp.simplify((sp.diff(value, T) - speed).rewrite(sp.exp))
            for name, value, speed in zip(("gamma_3", "gamma_4"), path, speeds, strict=True)
        } | {"start": sp.Abs(gamma.subs(T, 0)) + sp.Abs(fourth.subs(T, 0))}

    return {
        "squares of what is passed on, one row more": sp.simplify(squares - (2 - 1 / M)),
        "the quick landscape": sp.simplify(
            sp.limit(rows * loss.subs(total, most), N, sp.oo) - quick
        ),
        **{f"output, last pair: {step}": rest for step, rest in left_over(last, 0).items()},
        **{f"output, any pair: {step}": rest for step, rest in left_over(any_pair, 1).items()},
    }


def slow_residuals() -> dict[str, sp.Expr]:
    """The slow flow in the leading order."""
    gamma = sp.sqrt(sp.Rational(1, 4) + B**2 / 2)
    alpha = sp.Symbol("alpha", positive=True)
    log_n = sp.Symbol("L", positive=True)
    # the gain, minus the loss, on the clock t log N/2N^2 (uniform queries) and t/4N^2 (last pair)
    speeds, last = _climbed(G * B * E), _climbed(E * (log_n + 2 * G * B))
    wait = 4 / log_n * (1 - sp.exp(-alpha))
    return {
        "any pair: alpha - beta^2/2 stays": sp.simplify(speeds[0] - B * speeds[1]),
        "any pair: gamma^2 - beta^2/2 stays": sp.simplify(2 * G * speeds[2] - B * speeds[1]),
        "any pair: gamma by beta": sp.simplify(
            sp.diff(gamma, B) - (speeds[2] / speeds[1]).subs(G, gamma)
        ),
        "last pair: gamma^2 - beta^2/2 stays": sp.simplify(2 * G * last[2] - B * last[1]),
        "last pair: the time to alpha": sp.simplify(
            sp.diff(wait, alpha) - (4 / last[0]).subs({B: 0, E: sp.exp(alpha)})
        ),
        "last pair: beta by alpha": sp.simplify((last[1] / last[0]).subs(B, 0) - 2 * G / log_n),
    }


def _climbed(gain: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Speeds of alpha, beta and gamma_3, which keeps its sum with gamma_2: half its gradient."""
    return E * sp.diff(gain, E), sp.diff(gain, B), sp.diff(gain, G) / 2


def _pushed(n: int) -> sp.Expr:
    """-dL/dalpha_3 of the network itself at beta = 0 for n pairs, less the sum that is claimed."""
    gamma_2, gamma_3, gamma_4 = sp.symbols("gamma_2:5")
    rows = 2 * n

    def paid(row: int, to: int) -> sp.Expr:
        """Layer 1's attention."""
        if row % 2 == 0:
            return sp.Rational(1, row) if to < row else sp.Integer(0)
        held = E if to == row - 1 else 1
        return held / (row - 1 + E) if to < row else sp.Integer(0)

    share = sp.Rational(1, rows)
    output = [
        (gamma_2 + gamma_3) * share + gamma_4 * share * sum(paid(row, to) for row in range(rows))
        for to in range(rows)
    ]
    loss = sum(value**2 for value in output) - 2 * output[rows - 1] + 1
    claimed = sum(2 * k * (2 * k + 1) * E / (2 * k + E) ** 3 for k in range(1, n))
    return sp.simplify(-E * sp.diff(loss, E) - gamma_4**2 / (2 * n**2) * claimed)
