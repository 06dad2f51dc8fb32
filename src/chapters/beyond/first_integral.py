"""The first integral, for any loss, and the order of emergence that follows from it.

What nineteen parameters conserve under every loss, in exact arithmetic.

The flow of a loss of the outputs moves along their gradients, so what is conserved for all losses
is constant along these and their commutators. Twelve coordinates count: the seven constants that
are trivial, five parameters without effect and the differences of two pairs, leave them. At `BASE`
six outputs have derivatives that are rational functions of N. Chapter "The first integral" says
which outputs these are.

The lemma behind the order of emergence for every N, each step as a residual that must vanish.

p is the attention of layer 2 to the target, o that to each other position, h = gamma (p - o).
"""

from itertools import combinations
from typing import Any

import sympy as sp
from sympy import QQ, ring
from sympy.polys.matrices import DomainMatrix

from emergence.proofs import reduced
from emergence.proofs.reduced import ALPHA, BETA, GAMMA, N, rational

#: The coordinates; `beta_7` stands for beta_7 + beta_9, `beta_8` for beta_8 + beta_11.
COORDINATES = (
    "alpha_1", "alpha_3", "beta_1", "beta_2", "beta_7", "beta_8", "beta_10", "beta_12",
    "gamma_1", "gamma_2", "gamma_3", "gamma_4",
)  # fmt: skip
METRIC = tuple(2 if name in ("beta_7", "beta_8") else 1 for name in COORDINATES)  # of the sums
BASE = {"alpha_1": 2, "alpha_3": 2, "gamma_1": 0, "gamma_2": 1, "gamma_3": 1, "gamma_4": 1}
PAIRS = sp.Symbol("N")
#: Which commutators stand in the minor, by the places of two of the six outputs.
CHOSEN = ((0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (3, 4))
FEWEST = 3  # pairs: the outputs on pair 1, which is not asked for, are used
ORDER = 2  # of the Taylor polynomials

Field = list[Any]  # a vector in the coordinates, over a field that sympy knows


def outputs(n_pairs: Any, field: Any) -> list[Any]:
    """Taylor polynomials at `BASE` of six outputs when the last pair is asked for (Eq. 1).

    With A the attention of layer 2, not normed, of the queried item and label, and Z its sum,
    they are gamma_4/Z, gamma_4/Z(2 + e^alpha_3), gamma_3 (e^-.. - 1)/Z of row 0, and the
    coefficients of the queried label, of the queried item and of the label of the pair before.
    `BASE` has e^alpha, beta = 0 and gamma. `n_pairs` is a number or a symbol of the field, such as
    `QQ` or its rational functions of N. Results are polynomials in the twelve displacements, up to
    their second powers.
    """
    polynomials, *moved = ring([f"u_{name}" for name in COORDINATES], field)
    at = dict(zip(COORDINATES, moved, strict=True))
    unity = polynomials(1)

    def times(x: Any, y: Any) -> Any:
        low_order = {powers: c for powers, c in (x * y).items() if sum(powers) <= ORDER}
        return polynomials.from_dict(low_order)

    def exp(x: Any) -> Any:
        """Of what is zero at the base."""
        return unity + x + times(x, x) * field(QQ(1, 2))

    def over(x: Any) -> Any:
        value = x.get(polynomials.zero_monom, field(0))
        rest = x * (1 / value) - 1
        return (unity - rest + times(rest, rest)) * (1 / value)

    gamma = [at[f"gamma_{k}"] + field(QQ(BASE[f"gamma_{k}"])) for k in range(1, 5)]
    strong = {k: exp(at[f"alpha_{k}"]) * field(QQ(BASE[f"alpha_{k}"])) for k in (1, 3)}
    rest = over(strong[1] + (2 * n_pairs - 1))  # layer 1, the query: to each row but its own item
    ahead = unity - rest * (2 * n_pairs)
    label = over(strong[3] + 2 * (n_pairs - 1))  # layer 1, the last label: to each earlier pair
    own_answer = times(strong[3], label)
    first = exp(-times(at["beta_8"] + at["beta_12"], rest))  # layer 2: row 0 has seen nothing
    on_item = exp(at["beta_1"] + times(at["beta_7"], ahead))
    on_label = exp(
        times(at["beta_10"], ahead) + times(at["beta_2"] + times(at["beta_8"], ahead), own_answer)
    )
    share = over(first + on_item + on_label + (2 * n_pairs - 3))
    third, fourth = times(gamma[2], share), times(gamma[3], share)
    equal = times(gamma[1], rest)
    wrong = equal + times(gamma[1], ahead) + gamma[0] + times(third, on_item)
    early = on_item * (1 / field(2 * (n_pairs - 1))) + times(on_label, label)
    return [
        fourth,
        times(fourth, over(strong[3] + 2)),
        times(third, first - unity),
        equal + times(third, on_label),
        wrong + times(times(fourth, on_label), own_answer),
        equal + third + times(fourth, early),
    ]


def fields(n_pairs: Any, field: Any) -> tuple[list[Field], dict[tuple[int, int], Field]]:
    """The gradients of the six outputs at `BASE`, and their commutators by the places of two."""
    polynomials, count = outputs(n_pairs, field), range(len(COORDINATES))

    def coefficient(polynomial: Any, *places: int) -> Any:
        powers = tuple(sum(place == k for place in places) for k in count)
        return polynomial.get(powers, field(0))

    gradients = [[METRIC[k] * coefficient(p, k) for k in count] for p in polynomials]
    turned = [  # the derivative of a gradient field, a matrix
        [[METRIC[k] * (1 + (k == m)) * coefficient(p, k, m) for m in count] for k in count]
        for p in polynomials
    ]

    def along(place: int, vector: Field) -> Field:
        return [
            sum((x * y for x, y in zip(row, vector, strict=True)), field(0))
            for row in turned[place]
        ]

    commutators = {
        (i, j): [
            x - y
            for x, y in zip(along(j, gradients[i]), along(i, gradients[j]), strict=True)
        ]
        for i, j in combinations(range(len(polynomials)), 2)
    }  # fmt: skip
    return gradients, commutators


def minor() -> sp.Expr:
    """The determinant of the gradients and the `CHOSEN` commutators, as a function of N."""
    field = QQ.frac_field(PAIRS)
    gradients, commutators = fields(field(PAIRS), field)
    rows = gradients + [commutators[places] for places in CHOSEN]
    return sp.factor(DomainMatrix(rows, (len(rows), len(COORDINATES)), field).det().as_expr())


def never_zero(expression: sp.Expr, first: int = FEWEST) -> bool:
    """Whether a rational function of `PAIRS` has neither root nor pole from `first` on.

    It is certain where true: all coefficients by N - first are of one sign, above and below.
    """
    parts = [
        sp.Poly(part.subs(PAIRS, PAIRS + first), PAIRS)
        for part in sp.fraction(sp.cancel(expression))
    ]
    signs = [{sp.sign(c) for c in part.all_coeffs() if c} for part in parts]
    return all(len(s) == 1 and p.eval(0) != 0 for s, p in zip(signs, parts, strict=True))


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
