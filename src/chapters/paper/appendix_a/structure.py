"""Structure of the gradient (A.5-A.7) as algebra: every identity a remainder that must be 0."""

import sympy as sp

from .words import RULES, E, F, M, Rules, matrix_symbol, normal_form, transpose, transpose_blocks

ALPHA = sp.symbols("alpha_1:4")
BETA = sp.symbols("beta_1:13")
GAMMA = sp.symbols("gamma_1:5")

X = sp.Matrix([[matrix_symbol("X_1"), matrix_symbol("X_2")]])
U = sp.Matrix([[matrix_symbol(f"U_{i}") for i in range(1, 5)]])
T, Q = matrix_symbol("T"), matrix_symbol("Q")
V = sp.Matrix([[*U, *(Q * block for block in U)]])  # V = [U | QU]
ERROR = matrix_symbol("g")  # dL/dz at the query's row, zero in the rows above: (2N + 1) x D


def block_weights() -> tuple[sp.MatrixBase, sp.MatrixBase, sp.MatrixBase]:
    """W1, W2, W3 of Eqs. 6-8 in blocks of size D."""
    a1, a2, a3 = ALPHA
    b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12 = BETA
    g1, g2, g3, g4 = GAMMA
    return (
        sp.Matrix([[a1, 0], [0, a2 + a3 * M]]),
        sp.Matrix(
            [
                [b1, 0, b2, 0],
                [0, b3 + b4 * M, 0, b5 + b6 * M],
                [b7, 0, b8, 0],
                [0, b9 + b10 * M, 0, b11 + b12 * M],
            ]
        ),
        sp.Matrix([g1, 0, g2, 0, g3, 0, g4, 0]),
    )


def scores(blocks: sp.MatrixBase, weight: sp.MatrixBase) -> sp.Expr:
    """X W X^T for a row of blocks (S from X and W1, P from U and W2)."""
    return sp.expand((blocks * weight * transpose_blocks(blocks))[0])


def output(blocks: sp.MatrixBase, weight: sp.MatrixBase) -> sp.Expr:
    """V W3; z is its last row."""
    return sp.expand((blocks * weight)[0])


def printed() -> dict[str, sp.Expr]:
    """S, P and z as A.6 prints them, copied and not derived."""
    a1, a2, a3 = ALPHA
    b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12 = BETA
    g1, g2, g3, g4 = GAMMA
    x1, x2 = X
    u1, u2, u3, u4 = U
    v1, _, v3, _, v5, _, v7, _ = V
    x1t, x2t, u1t, u2t, u3t, u4t = (transpose(block) for block in (*X, *U))
    return {
        "S": a1 * x1 * x1t + a2 * x2 * x2t + a3 * x2 * M * x2t,
        "P": (
            b1 * u1 * u1t + b2 * u1 * u3t + b7 * u3 * u1t + b8 * u3 * u3t
            + b3 * u2 * u2t + b5 * u2 * u4t + b9 * u4 * u2t + b11 * u4 * u4t
            + b4 * u2 * M * u2t + b6 * u2 * M * u4t
            + b10 * u4 * M * u2t + b12 * u4 * M * u4t
        ),
        "z": g1 * v1 + g2 * v3 + g3 * v5 + g4 * v7,
    }  # fmt: skip


def derived() -> dict[str, sp.Expr]:
    """S, P and z from the architecture (A.3) and the weights of Eqs. 6-8."""
    w1, w2, w3 = block_weights()
    return {"S": scores(X, w1), "P": scores(U, w2), "z": output(V, w3)}


def rotated_blocks(blocks: sp.MatrixBase) -> sp.MatrixBase:
    """Blocks after the rotation of the data: odd ones times E, even ones times F (A.5)."""
    return sp.Matrix([[block * turn(i) for i, block in enumerate(blocks)]])


def turn(index: int) -> sp.Symbol:
    """What the block with this index, counted from 0, is multiplied by."""
    return F if index % 2 else E


def forward_residuals(rules: Rules = RULES) -> dict[str, sp.Expr]:
    """A.6: what the rotation changes of each intermediate result beyond what A.6 says."""
    w1, w2, w3 = block_weights()
    expected = derived()
    p = matrix_symbol("p")
    turned_u = [*rotated_blocks(U)]
    turned_v = [*turned_u, *(Q * block for block in turned_u)]  # Q' = Q, since P' = P
    remainders = {
        "X_2' = X_2 F": (p * F) * M - (p * M) * F,
        "S' = S": scores(rotated_blocks(X), w1) - expected["S"],
        **{
            f"U_{i + 3}' = U_{i + 3} {turn(i)}": T * rotated_blocks(X)[i] - T * X[i] * turn(i)
            for i in (0, 1)
        },
        "P' = P": scores(rotated_blocks(U), w2) - expected["P"],
        **{f"V_{i + 1}' = V_{i + 1} {turn(i)}": turned_v[i] - V[i] * turn(i) for i in range(8)},
        "z' = z E": output(sp.Matrix([turned_v]), w3) - expected["z"] * E,
    }
    return {name: normal_form(remainder, rules) for name, remainder in remainders.items()}


def backward_residuals(rules: Rules = RULES) -> dict[str, sp.Expr]:
    """A.7: the same for each gradient, in the order in which they propagate.

    The softmax enters once: dL/dP depends on Q and dL/dQ alone, both unchanged, so dL'/dP' is.
    The same for dL/dS. They are the letters G and H below.
    """
    before, after = (
        gradients(X, U, ERROR),
        gradients(rotated_blocks(X), rotated_blocks(U), ERROR * E),
    )
    remainders = {}
    for name, value in before.items():
        row, column = _turns(name)
        remainders[name] = after[name] - transpose(row) * value * column
    return {name: normal_form(remainder, rules) for name, remainder in remainders.items()}


def gradients(x: sp.MatrixBase, u: sp.MatrixBase, error: sp.Expr) -> dict[str, sp.Expr]:
    """All gradients of A.7 by the chain rule, for these X, U and error dL/dz.

    A digit after the underscore counts blocks. G and H are dL/dP and dL/dS.
    """
    _, w2, w3 = block_weights()
    v = [*u, *(Q * block for block in u)]
    d_v = error * transpose_blocks(w3)
    g, h = matrix_symbol("G"), matrix_symbol("H")
    q_t, g_t = transpose(Q), transpose(g)
    # dL/dU = dL/dV_1..4 + Q^T dL/dV_5..8 + G U W2^T + G^T U W2: as query and as key (Eq. 14)
    d_u = g * u * transpose_blocks(w2) + g_t * u * w2
    d_u += sp.Matrix([[d_v[i] + q_t * d_v[i + 4] for i in range(4)]])
    out = {f"W3_{i + 1}": transpose(v[i]) * error for i in range(8)}
    out |= {f"V_{i + 1}": d_v[i] for i in range(8)}
    out["Q"] = sum(d_v[i + 4] * transpose(u[i]) for i in range(4))
    out |= {f"W2_{i + 1}{j + 1}": transpose(u[i]) * g * u[j] for i in range(4) for j in range(4)}
    out |= {f"U_{i + 1}": d_u[i] for i in range(4)}
    out["T"] = sum(d_u[i + 2] * transpose(x[i]) for i in range(2))
    out |= {f"W1_{i + 1}{j + 1}": transpose(x[i]) * h * x[j] for i in range(2) for j in range(2)}
    return {name: sp.expand(value) for name, value in out.items()}


def _turns(name: str) -> tuple[sp.Expr, sp.Expr]:
    """(R, C) such that A.7 says that the gradient becomes R^T (gradient) C."""
    identity = sp.Integer(1)
    kind, _, index = name.partition("_")
    places = [int(digit) - 1 for digit in index]
    if kind in ("Q", "T"):
        return identity, identity
    if kind in ("U", "V"):
        return identity, turn(places[0])
    return turn(places[0]), E if kind == "W3" else turn(places[1])
