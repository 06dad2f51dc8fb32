"""The source's map of heads against width: Nichani, Lee and Bietti, arXiv 2412.06538.

Read off the colours of the plot in `plotting.ipynb` of github.com/eshnich/factual-recall-iclr at
commit 7c4d121, to about 0.01. One training a cell: S = R = 32, D = 8, d = 32, d_h = 8, Adam at a
rate of 0.01 in batches of 1,024 for up to 16,384 steps; recall is the best of 129 tests. The line
drawn over it is d m = 2300 - d d_h H / 2, from d d_h H = 1280 on.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

HEADS = (1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32)
WIDTHS = (1, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128)
FEWEST = 1280  # d d_h H below which the line is vertical
LINE = 2300  # d m + d d_h H / 2 on the line

RECALL = (  # a row for each number of heads
    (.11, .14, .18, .24, .19, .22, .23, .35, .20, .31, .28, .32, .21),  # 1
    (.18, .22, .36, .41, .38, .52, .45, .42, .46, .44, .54, .68, .56),  # 2
    (.34, .49, .58, .61, .60, .75, .75, .74, .77, .85, .78, .72, .89),  # 4
    (.45, .59, .76, .84, .84, .85, .99, .97, .99, .97, .96, .99, .97),  # 6
    (.73, .71, .79, .93, .87, 1.0, .97, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),  # 8
    (.72, .87, .96, .91, .95, 1.0, 1.0, 1.0, .98, .98, 1.0, 1.0, 1.0),  # 10
    (.85, .85, .94, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),  # 12
    (.96, .94, .99, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),  # 14
    (.94, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),  # 16
    (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),  # 20
    (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),  # 24
    (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),  # 28
    (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),  # 32
)  # fmt: skip


class Cells(NamedTuple):
    """Heads, widths and recall of the cells of the map."""

    heads: Int[np.ndarray, " cells"]
    widths: Int[np.ndarray, " cells"]
    recall: Float[np.ndarray, " cells"]


def cells() -> Cells:
    """All cells of the map."""
    heads, widths = np.meshgrid(HEADS, WIDTHS, indexing="ij")
    return Cells(heads.ravel(), widths.ravel(), np.array(RECALL).ravel())
