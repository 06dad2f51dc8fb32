"""Panels of the chapter: embeddings, markers, and counts of runs with an interval."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from ...plotting import COLOURS
from .markers import markers, normalise, places

SHADES = {
    "circle": "#B0457E",
    "grid": "#B37700",
    "alignment": "#B0457E",  # makes circles
    "clustering": "#B37700",  # makes grids
    "control": COLOURS["other"],
}
RESIDUES = plt.get_cmap("hsv")  # cyclic, as residues are


def _bare(ax: Axes, extent: float) -> None:
    ax.set(xlim=(-extent, extent), ylim=(-extent, extent), aspect="equal", xticks=[], yticks=[])
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(True)
    ax.plot(0, 0, "+", color="#555555", ms=7, mew=0.8)


def embedding_panel(ax: Axes, embeddings: Float[Tensor, "n 2"]) -> Axes:
    """Normalised embeddings, each with its residue."""
    n = len(embeddings)
    _bare(ax, 2.4)
    for a, (x, y) in enumerate(normalise(embeddings).tolist()):
        ax.plot(x, y, "o", ms=5, color=RESIDUES(a / n))
        ax.annotate(str(a), (x, y), xytext=(4, 3), textcoords="offset points", fontsize=7)
    return ax


def marker_panel(ax: Axes, embeddings: Float[Tensor, "n 2"], *, sum_: int) -> Axes:
    """The markers of normalised embeddings; those of one sum are ringed."""
    n = len(embeddings)
    total = markers(n).total
    marks = places(normalise(embeddings))
    _bare(ax, 4.8)
    ax.scatter(*marks.T, c=RESIDUES(total / n), s=11, linewidths=0)
    ringed = marks[total == sum_]
    ax.plot(*ringed.T, "o", ms=8, mfc="none", mec="#222222", mew=0.9)
    return ax


def share_line(
    ax: Axes,
    x: Sequence[float] | np.ndarray,
    counts: Sequence[int],
    runs: int,
    intervals: Sequence[tuple[float, float]],
    *,
    name: str,
) -> Axes:
    """Shares of runs with their intervals as bars."""
    shares = np.array(counts) / runs
    low, high = np.array(intervals).T
    ax.errorbar(
        x, shares, yerr=(shares - low, high - shares), marker="o", ms=4.5, lw=1.4, capsize=2.5,
        elinewidth=0.9, color=SHADES[name],
    )  # fmt: skip
    return ax
