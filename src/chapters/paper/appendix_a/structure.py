"""Structure of the gradient (A.5-A.7) as algebra: every identity a remainder that must be 0.

Algebra of matrix products of any size: words in E, F, M and the data, with their identities.

Matrices that the rotations of App. A leave fixed: Propositions 1-4, for small k and every k.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import reduce

import sympy as sp
import torch
from sympy import KroneckerDelta as delta
from sympy.concrete.delta import deltasummation
from sympy.polys.matrices import DomainMatrix
from torch import Tensor

TRANSPOSED = "^T"


def matrix_symbol(name: str) -> sp.Symbol:
    """A symbol for a matrix; products of such symbols keep their order."""
    return sp.Symbol(name, commutative=False)


E, F = matrix_symbol("E"), matrix_symbol("F")  # orthogonal (Def. 4), block-orthogonal (Def. 5)
M = matrix_symbol("M")  # block-swap (Def. 6), symmetric
SYMMETRIC = {M}

# What the proof may use of E, F and M: orthogonality, and Prop. 4 as FM = MF and F^T M = M F^T.
Rules = Mapping[tuple[sp.Symbol, sp.Symbol], tuple[sp.Symbol, ...]]


def _cancelling(symbol: sp.Symbol) -> dict:
    other = matrix_symbol(symbol.name + TRANSPOSED)
    return {(symbol, other): (), (other, symbol): ()}


ORTHOGONALITY: Rules = _cancelling(E) | _cancelling(F) | {(M, M): ()}
PROPOSITION_4: Rules = {(F, M): (M, F), (matrix_symbol("F^T"), M): (M, matrix_symbol("F^T"))}
RULES: Rules = {**ORTHOGONALITY, **PROPOSITION_4}


def transpose(expression: sp.Expr) -> sp.Expr:
    """The transpose of a sum of words: each reversed, each letter transposed."""
    return sp.Add(
        *(
            coefficient * sp.Mul(*(_flip(letter) for letter in reversed(word)))
            for coefficient, word in _terms(expression)
        )
    )


def transpose_blocks(blocks: sp.MatrixBase) -> sp.MatrixBase:
    """The transpose of a matrix of blocks."""
    return blocks.T.applyfunc(transpose)


def normal_form(expression: sp.Expr, rules: Rules = RULES) -> sp.Expr:
    """The expression with the rules applied to each word until none applies."""
    return sp.expand(
        sp.Add(*(factor * sp.Mul(*_rewrite(word, rules)) for factor, word in _terms(expression)))
    )


def evaluate(
    expression: sp.Expr, matrices: Mapping[str, Tensor], scalars: Mapping[str, float]
) -> Tensor:
    """The number behind a sum of words; each letter is looked up by its name.

    Raises KeyError for an unknown letter, ValueError for a multiple of I: its size is not said.
    """

    def value(letter: sp.Symbol) -> Tensor:
        if letter.name.endswith(TRANSPOSED):
            return matrices[letter.name.removesuffix(TRANSPOSED)].mT
        return matrices[letter.name]

    total = torch.zeros((), dtype=torch.float64)
    for coefficient, word in _terms(expression):
        if not word:
            raise ValueError(f"the summand {coefficient} is a number, not a product of matrices")
        factor = coefficient.subs({s: scalars[s.name] for s in coefficient.free_symbols})
        total = total + float(factor) * reduce(torch.matmul, map(value, word))
    return total


def _flip(letter: sp.Symbol) -> sp.Symbol:
    if letter in SYMMETRIC:
        return letter
    name = letter.name
    return matrix_symbol(
        name.removesuffix(TRANSPOSED) if name.endswith(TRANSPOSED) else name + TRANSPOSED
    )


def _terms(expression: sp.Expr) -> list[tuple[sp.Expr, list[sp.Symbol]]]:
    """Coefficient and letters of each summand, powers written out."""
    terms: list[tuple[sp.Expr, list[sp.Symbol]]] = []
    if expression == 0:
        return terms
    for term in sp.Add.make_args(sp.expand(expression)):
        factors, powers = term.args_cnc()
        letters = [
            p.base if p.is_Pow else p for p in powers for _ in range(int(p.as_base_exp()[1]))
        ]
        terms.append((sp.Mul(*factors), letters))
    return terms


def _rewrite(word: list[sp.Symbol], rules: Rules) -> list[sp.Symbol]:
    position = 0
    while position < len(word) - 1:
        pair = (word[position], word[position + 1])
        if pair in rules:
            word = [*word[:position], *rules[pair], *word[position + 2 :]]
            position = max(position - 1, 0)
        else:
            position += 1
    return word


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


# Small k: a null space in exact arithmetic.


def signed_permutations(k: int) -> list[sp.MatrixBase]:
    """Generators of the signed permutations of size k: the two kinds that prove Prop. 1."""
    flip = sp.diag(-1, *[1] * (k - 1))
    swaps = (sp.eye(k).permute([[i, i + 1]]) for i in range(k - 1))
    return [flip, *swaps]


def block_swap(k: int) -> sp.MatrixBase:
    """M of size 2k (Def. 6)."""
    return sp.kronecker_product(sp.Matrix([[0, 1], [1, 0]]), sp.eye(k))


def block_orthogonal(generators: Iterable[sp.MatrixBase]) -> list[sp.MatrixBase]:
    """Generators of the matrices of Def. 5 whose block E is generated by these."""
    doubled = [sp.diag(matrix, matrix) for matrix in generators]
    return [*doubled, block_swap(doubled[0].rows // 2)]


def invariants(pairs: Iterable[tuple[sp.MatrixBase, sp.MatrixBase]]) -> list[sp.MatrixBase]:
    """A basis, in exact rationals, of the matrices A with L A R = A for every pair (L, R)."""
    pairs = list(pairs)
    rows, columns = pairs[0][0].rows, pairs[0][1].rows
    equations = sp.Matrix.vstack(
        *(sp.kronecker_product(left, right.T) - sp.eye(rows * columns) for left, right in pairs)
    )
    kernel = DomainMatrix.from_Matrix(equations).to_field().to_sparse().nullspace().to_Matrix()
    basis = (kernel.row(i).reshape(rows, columns) for i in range(kernel.rows))
    return [matrix / next(entry for entry in matrix if entry) for matrix in basis]


def commutant_of(generators: Iterable[sp.MatrixBase]) -> list[sp.MatrixBase]:
    """A basis of the matrices A with E A E^T = A for all E of the group generated."""
    return invariants((matrix, matrix.T) for matrix in generators)


def fixed_by_independent(
    generators: Iterable[sp.MatrixBase], block_generators: Iterable[sp.MatrixBase]
) -> list[sp.MatrixBase]:
    """A basis of the matrices A with E A F = A for all E and F of two groups (Prop. 3)."""
    generators = list(generators)
    identity = sp.eye(generators[0].rows)
    return invariants(
        [*((e, identity) for e in generators), *((identity, f) for f in block_generators)]
    )


def spans(basis: Iterable[sp.MatrixBase], expected: Iterable[sp.MatrixBase]) -> bool:
    """Whether two lists of linearly independent matrices span the same space."""
    basis_rows, other = ([list(matrix) for matrix in matrices] for matrices in (basis, expected))
    if len(basis_rows) != len(other):
        return False
    return not basis_rows or sp.Matrix(basis_rows + other).rank() == len(basis_rows)


# Every k: the paper's argument with symbolic indices and with blocks as letters.

i, j, l, k = sp.symbols("i j l k", integer=True, positive=True)  # noqa: E741  the letters of App. A
A = sp.IndexedBase("A")


def flip_entry(row: sp.Expr, column: sp.Expr) -> sp.Expr:
    """Entry of diag(1, ..., -1, ..., 1) with -1 at place j."""
    return delta(row, column) * (1 - 2 * delta(row, j))


def swap_entry(row: sp.Expr, column: sp.Expr) -> sp.Expr:
    """Entry of the permutation that swaps i and j: I - (e_i - e_j)(e_i - e_j)^T."""
    return delta(row, column) - (delta(row, i) - delta(row, j)) * (
        delta(column, i) - delta(column, j)
    )


def conjugated_entry(
    entry: Callable[[sp.Expr, sp.Expr], sp.Expr], row: sp.Expr, column: sp.Expr
) -> sp.Expr:
    """(E A E^T)_{row, column} = sum over r, s = 1 ... k of E_{row, r} A_{r, s} E_{column, s}."""
    r, s = sp.symbols("r s", integer=True, positive=True)
    summand = sp.expand(entry(row, r) * entry(column, s) * A[r, s])
    return deltasummation(sp.expand(deltasummation(summand, (r, 1, k), True)), (s, 1, k), True)


def proposition_1_off_diagonal() -> sp.Expr:
    """Step 1: what the flip at place i makes of A_il for i != l. The paper says -A_il."""
    moved = conjugated_entry(flip_entry, i, l).subs(j, i)
    return sp.expand(moved).subs(delta(i, l), 0)


def proposition_1_diagonal() -> sp.Expr:
    """Step 2: what the swap of i != j makes of A_ii. The paper says A_jj."""
    return sp.expand(conjugated_entry(swap_entry, i, i)).subs(delta(i, j), 0)


def block_matrix(name: str) -> sp.MatrixBase:
    """A matrix of two by two blocks of any size k."""
    return sp.Matrix(2, 2, lambda row, column: matrix_symbol(f"{name}_{row + 1}{column + 1}"))


def conjugated_blocks(blocks: sp.MatrixBase, turn: sp.MatrixBase) -> sp.MatrixBase:
    """F A F^T block by block, for blocks of any size."""
    product = turn * blocks * transpose_blocks(turn)
    return product.applyfunc(lambda entry: normal_form(entry, ORTHOGONALITY))


def proposition_2_swap() -> sp.MatrixBase:
    """Step 2 of Prop. 2: F A F^T for F = M, blocks traded across both diagonals."""
    swap = sp.Matrix([[0, 1], [1, 0]])
    return conjugated_blocks(block_matrix("A"), swap)


def proposition_4(form: str) -> sp.MatrixBase:
    """F M F^T in blocks of any size, for F of Def. 5, `main` or `secondary`; the paper says M."""
    forms = {"main": [[E, 0], [0, E]], "secondary": [[0, E], [E, 0]]}
    return conjugated_blocks(sp.Matrix([[0, 1], [1, 0]]), sp.Matrix(forms[form]))
