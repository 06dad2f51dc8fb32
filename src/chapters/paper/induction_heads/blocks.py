"""The blocks of a matrix of products between tokens and positions."""

import numpy as np
from jaxtyping import Shaped


def matrix_blocks(
    matrix: Shaped[np.ndarray, "rows columns"], size: int
) -> Shaped[np.ndarray, "block_rows block_columns size size"]:
    """The square blocks of a matrix (Eqs. 6-8).

    Args:
        matrix: of any type.
        size: side of a block, a divisor of both sides of the matrix.

    Returns:
        A view, a block at each block row and block column.

    Raises:
        ValueError: if its sides are no multiples of the size.

    Example:
        >>> matrix_blocks(np.arange(8).reshape(2, 4), 2)[0, 1].tolist()
        [[2, 3], [6, 7]]
    """
    rows, columns = matrix.shape
    if rows % size or columns % size:
        raise ValueError(f"a {rows} x {columns} matrix has no blocks of size {size}")
    return matrix.reshape(rows // size, size, columns // size, size).swapaxes(1, 2)  # a view
