"""Algebra of matrix products of any size: words in E, F, M and the data, with their identities."""

from collections.abc import Mapping
from functools import reduce

import sympy as sp
import torch
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
