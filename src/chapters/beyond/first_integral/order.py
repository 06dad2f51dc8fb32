"""The lemma behind the order of emergence for every N, each step as a residual that must vanish.

p is the attention of layer 2 to the target, o that to each other position, h = gamma (p - o).
"""

import sympy as sp

from emergence.proofs import reduced
from emergence.proofs.reduced import ALPHA, BETA, GAMMA, N, rational


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
        "attention adds up": rational(p + (2 * N - 1) * o - 1),
        "speed of alpha": rational(speed[ALPHA] - push * BETA * retrieval * (1 - retrieval)),
        "speed of beta": rational(speed[BETA] - push * retrieval),
        "speed of gamma": rational(speed[GAMMA] - 2 * p + 2 * GAMMA * norm),
        "speed of gamma at gamma = 0": rational(speed[GAMMA].subs(GAMMA, 0) - 2 * p),
        "speed of gamma where h = 1": rational(speed[GAMMA].subs(border) + 2 * o / (p - o)),
        "speed of h where h = 1": rational(moves.subs(border) + 2 * o),
    }
