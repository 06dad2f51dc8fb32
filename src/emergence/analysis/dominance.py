"""How far one band dominates a matrix of Figure 2: among entries that a sequence can reach."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from emergence.models import Mask

from .products import Products
from .weights import blocks


class Band(NamedTuple):
    """A diagonal (offset 0) or sub-diagonal (-1) of one block of a matrix, by row and column."""

    row: int
    column: int
    offset: int


# §2.3: layer 1 attends to the position before, layer 2 to the token that layer 1 has retrieved,
# the output says the token that layer 2 has retrieved.
HEAD_BANDS = Products(Band(1, 1, -1), Band(0, 2, 0), Band(0, 4, 0))


class Dominance(NamedTuple):
    """How far a band dominates its matrix, entries that no sequence reaches left out.

    Attributes:
        lead: root mean square of the band over that of the next diagonal or sub-diagonal of any
            block.
        decides: the part of the band's entries that are the largest of those they compete with in
            their block: the keys of a query in an attention layer, the tokens of a column in the
            output.
        brightest: the part of as many largest entries of the matrix, by size, as the band has
            entries, that lie on the band.
        band_share: the band's part of the squared norm of its block.
        block_share: the block's part of the squared norm of the matrix.
    """

    lead: float
    decides: float
    brightest: float
    band_share: float
    block_share: float


def reached(vocabulary: int, block_size: int, length: int, mask: Mask) -> Products:
    """Which entries of the three matrices of Figure 2 take part in the answer to a query.

    A sequence is a run of `length` positions, placed anywhere in the block, and its last token asks
    (App. E). So positions further apart than a sequence never meet, later ones are masked, and the
    query is never at one of the first positions.

    Args:
        vocabulary: number of tokens N_E.
        block_size: number of positions N_P, the same.
        length: positions of a sequence, 2N + 1, at most `block_size`.
        mask: `causal` or `strict`.

    Returns:
        Three matrices, true where an entry can be reached.

    Raises:
        ValueError: if the numbers of tokens and of positions differ.
    """
    if vocabulary != block_size:
        raise ValueError(f"the blocks are square only if {vocabulary} = {block_size}")
    n = vocabulary
    back = np.subtract.outer(np.arange(n), np.arange(n))  # how far a query is behind its key
    near = np.abs(back) < length
    seen = near & (back >= (0 if mask == "causal" else 1))
    asks = np.arange(n) >= length - 1
    layer1, layer2 = (np.ones((k * n, k * n), dtype=bool) for k in (2, 4))
    output = np.ones((n, 8 * n), dtype=bool)
    blocks(layer1, n)[1, 1] = seen
    second = blocks(layer2, n)
    second[1] &= asks[:, None]  # the positions that a query can have, in all four blocks
    for row in (1, 3):
        second[row, 1] &= seen if row == 1 else near  # what a query has retrieved lies near too
        second[row, 3] &= seen if row == 1 else near
    blocks(output, n)[0, 1] &= asks[None]
    return Products(layer1, layer2, output)


def dominance(
    matrix: Float[np.ndarray, "rows columns"],
    band: Band,
    reach: Bool[np.ndarray, "rows columns"],
    size: int,
    *,
    columns: bool = False,
) -> Dominance:
    """How far a band dominates a matrix of square blocks.

    Args:
        matrix: a matrix of `Products`.
        band: which diagonal of which block.
        reach: which entries count, of those of the band at least one.
        size: of the blocks.
        columns: whether entries compete within a column, as tokens in the output, or a row.

    Raises:
        ValueError: if no entry of the band counts.
    """
    tiles, counted = blocks(matrix, size), blocks(reach, size)
    on_band = np.zeros_like(reach)
    blocks(on_band, size)[band.row, band.column] = np.eye(size, k=band.offset, dtype=bool)
    on_band &= reach
    n_band = int(on_band.sum())
    if not n_band:
        raise ValueError(f"no entry of {band} counts")

    strength = {
        Band(i, j, k): np.sqrt((np.diagonal(tiles[i, j], k)[there] ** 2).mean())
        for i, j in np.ndindex(*tiles.shape[:2])
        for k in (0, -1)
        if (there := np.diagonal(counted[i, j], k)).any()
    }
    mine = strength.pop(band)

    inside = counted[band.row, band.column]
    block = np.where(inside, tiles[band.row, band.column], -np.inf)
    wanted = blocks(on_band, size)[band.row, band.column]
    first = block == block.max(axis=0 if columns else 1, keepdims=True)
    sizes = np.where(reach, np.abs(matrix), -np.inf)
    limit = np.sort(sizes, axis=None)[-n_band]
    squares = np.where(reach, matrix, 0.0) ** 2
    block_squares = blocks(squares, size)[band.row, band.column].sum()
    return Dominance(
        lead=float(mine / max(strength.values())),
        decides=float(first[wanted].mean()),
        brightest=float((sizes[on_band] >= limit).mean()),
        band_share=float(squares[on_band].sum() / block_squares),
        block_share=float(block_squares / squares.sum()),
    )
