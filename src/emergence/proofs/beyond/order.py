"""The lemma behind the order of emergence for every N, each step as a residual that must vanish.

p is the attention of layer 2 to the target, o that to each other position, h = gamma (p - o).
"""

import sympy as sp

from emergence.proofs.appendix_b import reduced
from emergence.proofs.appendix_b.reduced import ALPHA, BETA, GAMMA, N

A, S = sp.symbols("a s", positive=True)  # e^alpha and e^(beta g)


def residuals() -> dict[str, sp.Expr]:
    """Left side minus right side of every step, by what it says."""
    retrieval = sp.exp(ALPHA) / (sp.exp(ALPHA) + 2 * N - 2)
    signal = sp.exp(BETA * retrieval)
    p, o = signal / (signal + 2 * N - 1), 1 / (signal + 2 * N - 1)
    h = GAMMA * (p - o)
    loss = reduced.derive_loss()
    speed = {symbol: -sp.diff(loss, symbol) for symbol in (ALPHA, BETA, GAMMA)}
    push = 2 * (1 - p) * p * GAMMA * (1 - h)
    norm = p**2 + (2 * N - 1) * o**2
    moves = sum(sp.diff(h, symbol) * speed[symbol] for symbol in speed)
    border = {GAMMA: 1 / (p - o)}  # where h = 1
    return {
        "attention adds up": _left(p + (2 * N - 1) * o - 1),
        "speed of alpha": _left(speed[ALPHA] - push * BETA * retrieval * (1 - retrieval)),
        "speed of beta": _left(speed[BETA] - push * retrieval),
        "speed of gamma": _left(speed[GAMMA] - 2 * p + 2 * GAMMA * norm),
        "speed of gamma at gamma = 0": _left(speed[GAMMA].subs(GAMMA, 0) - 2 * p),
        "speed of gamma where h = 1": _left(speed[GAMMA].subs(border) + 2 * o / (p - o)),
        "speed of h where h = 1": _left(moves.subs(border) + 2 * o),
    }


def _left(difference: sp.Expr) -> sp.Expr:
    """What is left, as a rational function of e^alpha, e^(beta g), beta and gamma."""
    power = BETA * sp.exp(ALPHA) / (sp.exp(ALPHA) + 2 * N - 2)
    in_s = difference.replace(
        lambda e: isinstance(e, sp.exp) and e.has(BETA),
        lambda e: S ** sp.simplify(e.exp / power),
    )
    return sp.cancel(sp.together(in_s.subs(sp.exp(ALPHA), A)))
