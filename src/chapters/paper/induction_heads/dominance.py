"""How strongly one band dominates a matrix of Figure 2, among entries that a sequence can reach."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float

from emergence.models import Mask, allowed_positions

from .products import Products, matrix_blocks


class Band(NamedTuple):
    """A diagonal (offset 0) or sub-diagonal (-1) of one block of a matrix, by row and column."""

    row: int
    column: int
    offset: int


# §2.3: layer 1 attends to the position before, layer 2 to the token that layer 1 has retrieved,
# the output says the token that layer 2 has retrieved.
HEAD_BANDS = {"layer1": Band(1, 1, -1), "layer2": Band(0, 2, 0), "output": Band(0, 4, 0)}


class Dominance(NamedTuple):
    """How far a band dominates its matrix, entries that no sequence reaches left out.

    `lead` compares with every diagonal of at least half as many entries as the band. An entry
    `decides` if it is the largest of those it competes with in its block: the keys of a query in an
    attention layer, the tokens of a column in the output.
    """

    lead: float  # mean of the band over the root mean square of the next diagonal of any block
    decides: float  # the part of the band's entries that decide
    brightest: float  # the part of the matrix's largest entries, as many as the band's, on the band
    band_share: float  # the band's part of the squared norm of its block
    block_share: float  # the block's part of the squared norm of the matrix


def answering_entries(vocabulary: int, block_size: int, length: int, mask: Mask) -> Products:
    """Which entries of the three matrices of Figure 2 take part in the answer to some query.

    A sequence is a run of `length` positions, placed anywhere in the block, and its last token asks
    (App. E). So positions further apart than a sequence never meet, later ones are masked, one with
    a single key has no choice, and the query is never at one of the first positions. The block has
    at least `length` = 2N + 1 positions, N >= 2. Raises ValueError for an unknown mask.
    """
    sees = allowed_positions(length, mask, torch.device("cpu")).numpy()
    any_token = np.ones(vocabulary, dtype=bool)
    n = vocabulary + block_size
    layer1, layer2 = (np.zeros((k * n, k * n), dtype=bool) for k in (1, 2))
    output = np.zeros((vocabulary, 4 * n), dtype=bool)

    def at(places: np.ndarray) -> np.ndarray:
        """The directions of all tokens and of these positions."""
        return np.concatenate([any_token, np.isin(np.arange(block_size), places)])

    for start in range(block_size - length + 1):
        places = start + np.arange(length)
        for i, keys in enumerate(sees):
            if keys.sum() > 1:
                layer1 |= np.outer(at(places[i]), at(places[keys]))
        keys = sees[-1]
        behind_keys = places[sees[keys].any(axis=0)]  # where layer 1 may have looked from a key
        query = np.concatenate([at(places[-1]), at(places[keys])])
        read_rows = np.concatenate([at(places[keys]), at(behind_keys)])
        layer2 |= np.outer(query, read_rows)
        output |= np.concatenate([query, read_rows])
    return Products(layer1, layer2, output)


def dominance_of(
    matrix: Float[np.ndarray, "rows columns"],
    band: Band,
    reach: Bool[np.ndarray, "rows columns"],
    size: int,
    *,
    columns: bool = False,
) -> Dominance:
    """How far a band dominates a matrix of `Products` with square blocks of this size.

    Only entries within `reach` count; ValueError if none of the band does. Entries compete within a
    row, or within a column where `columns` is true, as tokens do in the output.
    """
    tiles, counted = matrix_blocks(matrix, size), matrix_blocks(reach, size)
    on_band = np.zeros_like(reach)
    matrix_blocks(on_band, size)[band.row, band.column] = np.eye(size, k=band.offset, dtype=bool)
    on_band &= reach
    n_band = int(on_band.sum())
    if not n_band:
        raise ValueError(f"no entry of {band} counts")

    strength = {
        Band(i, j, k): np.sqrt((np.diagonal(tiles[i, j], k)[diagonal] ** 2).mean())
        for i, j in np.ndindex(*tiles.shape[:2])
        for k in range(1 - size, size)
        if Band(i, j, k) != band
        and (diagonal := np.diagonal(counted[i, j], k)).sum() >= max(1, n_band / 2)
    }
    mine, next_one = matrix[on_band].mean(), max(strength.values())

    inside = counted[band.row, band.column]
    block = np.where(inside, tiles[band.row, band.column], -np.inf)
    wanted = matrix_blocks(on_band, size)[band.row, band.column]
    first = block == block.max(axis=0 if columns else 1, keepdims=True)
    sizes = np.where(reach, np.abs(matrix), -np.inf)
    limit = np.sort(sizes, axis=None)[-n_band]
    squares = np.where(reach, matrix, 0.0) ** 2
    block_squares = matrix_blocks(squares, size)[band.row, band.column].sum()
    return Dominance(
        lead=float(mine / next_one) if next_one else np.inf,
        decides=float(first[wanted].mean()),
        brightest=float((sizes[on_band] >= limit).mean()),
        band_share=float(squares[on_band].sum() / block_squares),
        block_share=float(block_squares / squares.sum()),
    )
