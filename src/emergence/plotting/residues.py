"""Embeddings and markers of residues in the plane, and shares of runs with an interval."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.colors import hsv_to_rgb
from torch import Tensor

from ._style import COLOURS

SHADES = {
    "circle": "#B0457E",
    "grid": "#B37700",
    "alignment": "#B0457E",  # makes circles
    "clustering": "#B37700",  # makes grids
    "control": COLOURS["other"],
}
BRIGHTNESS = 0.5  # the same for all residues, so that none is lost on light or dark


def _residue_colour(residue: int, n: int) -> tuple[float, ...]:
    """A hue for each residue, round the circle, all equally bright."""
    colour = np.array(hsv_to_rgb((residue / n, 1.0, 1.0)))
    bright = float(colour @ (0.2126, 0.7152, 0.0722))
    if bright > BRIGHTNESS:
        return tuple(colour * BRIGHTNESS / bright)
    return tuple(colour + (1 - colour) * (BRIGHTNESS - bright) / (1 - bright))


def _bare(ax: Axes, extent: float) -> None:
    ax.set(xlim=(-extent, extent), ylim=(-extent, extent), aspect="equal", xticks=[], yticks=[])
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(True)
    ax.plot(0, 0, "+", color="#555555", ms=7, mew=0.8)


def embedding_panel(ax: Axes, embeddings: Float[Tensor, "n 2"]) -> Axes:
    """Embeddings in the plane, each with its residue beside it (chapter Clustering).

    Args:
        ax: the axes to draw on.
        embeddings: one row per residue.
    """
    n = len(embeddings)
    _bare(ax, 1.25 * float(embeddings.abs().max()))
    for a, (x, y) in enumerate(embeddings.tolist()):
        ax.plot(x, y, "o", ms=5, color=_residue_colour(a, n))
        out = 9 / max((x * x + y * y) ** 0.5, 1e-6)
        ax.annotate(
            str(a), (x, y), xytext=(out * x, out * y), textcoords="offset points", fontsize=7,
            ha="center", va="center",
        )  # fmt: skip
    return ax


def marker_panel(
    ax: Axes, marks: Float[Tensor, "markers 2"], total: Int[Tensor, " markers"], *, sum_: int
) -> Axes:
    """Markers in the plane, coloured by the sum each stands for (chapter Clustering).

    Args:
        ax: the axes to draw on.
        marks: places of the markers.
        total: the sum that each stands for, from 0.
        sum_: the one whose markers are ringed.
    """
    n = int(total.max()) + 1
    _bare(ax, 1.15 * float(marks.abs().max()))
    x, y = marks.T
    ax.scatter(x, y, c=[_residue_colour(m, n) for m in total.tolist()], s=11, linewidths=0)
    x, y = marks[total == sum_].T
    ax.plot(x, y, "o", ms=8, mfc="none", mec="#222222", mew=0.9)
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
    """Shares of runs with their intervals as bars (chapter Clustering).

    Args:
        ax: the axes to draw on.
        x: of the shares.
        counts: of runs, 0 to `runs`.
        runs: at each x, > 0.
        intervals: of the shares, low and high.
        name: a key of `residues.SHADES`, which has the colour.
    """
    shares = np.array(counts) / runs
    low, high = np.array(intervals).T
    ax.errorbar(
        x, shares, yerr=(shares - low, high - shares), marker="o", ms=4.5, lw=1.4, capsize=2.5,
        elinewidth=0.9, color=SHADES[name],
    )  # fmt: skip
    return ax
