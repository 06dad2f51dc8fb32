"""The dimensions of Theorem 1, counted twice: those that are fixed and those that are reached."""

import sympy as sp
import torch
from jaxtyping import Float
from torch import Tensor

from emergence.running.memo import kept

from .averages import Group, gaussian, give_query_position, mean_gradient, orbit, structured_weights
from .commutant import block_orthogonal, invariants, signed_permutations

# Which of E and F turns each block of rows and columns: contents by E, positions by F (A.5).
BLOCKS = (("EF", "EF"), ("EFEF", "EFEF"), ("EFEFEFEF", "E"))


@kept
def fixed_dimensions(k: int) -> tuple[int, int, int]:
    """Dimensions of W1, W2 and W3 that all turns leave fixed, for D = 2k: exact null spaces.

    A block rotated by A on the left and B on the right must satisfy A W B^T = W for all E and F.
    """
    content = signed_permutations(2 * k)
    position = block_orthogonal(signed_permutations(k))
    identity = sp.eye(2 * k)
    pairs = [(e, identity) for e in content] + [
        (identity, f) for f in position
    ]  # independent turns

    def fixed(row: str, column: str) -> int:
        turns = ((e if row == "E" else f, e if column == "E" else f) for e, f in pairs)
        return len(invariants((left, right.T) for left, right in turns))

    sizes = {row + column: fixed(row, column) for row in "EF" for column in "EF"}
    w1, w2, w3 = (sum(sizes[r + c] for r in rows for c in columns) for rows, columns in BLOCKS)
    return w1, w2, w3


@kept
def gradients(
    dim: int, points: int, group: Group, generator: torch.Generator, *, query_position: bool
) -> Float[Tensor, "points weights"]:
    """Expected gradients at random structured weights, each a row of all 28 D^2 entries.

    D is a power of two, and the orbit of `group` makes the expectation a finite sum. With
    `query_position` the query carries a position of its own, against Eq. 4.
    """
    rows = []
    for _ in range(points):
        inputs, target = gaussian([generator], 2, 2, dim)
        if query_position:
            inputs = give_query_position(inputs, generator)
        weights = structured_weights([generator], dim)
        gradient, _ = mean_gradient(weights, *orbit(inputs, target, group))
        rows.append(torch.cat([part.flatten() for part in gradient]))
    return torch.stack(rows)


def rank(rows: Float[Tensor, "points weights"]) -> int:
    """The dimension of the span, where singular values below 1e-10 of the first count as zero."""
    singular = torch.linalg.svdvals(rows)
    return int((singular > 1e-10 * singular[0]).sum())
