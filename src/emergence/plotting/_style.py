"""Figures from arrays. Importing this module sets the book's Matplotlib style."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float, Real
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_rgb
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

plt.style.use(Path(__file__).with_name("book.mplstyle"))

# One colour a quantity throughout the book (Okabe and Ito's palette, safe for colour-blind eyes).
# The three of the letters stand for nothing else; what else a figure compares, such as data or
# optimisers, is its first, its second and its third.
COLOURS = {
    "alpha": "#0072B2",
    "beta": "#D55E00",
    "gamma": "#009E73",
    "first": "#B0457E",
    "second": "#B37700",
    "third": "#3D3D3D",
    "loss": "#5B4B8A",
    "other": "#999999",
}
DIVERGING, SEQUENTIAL = "RdBu_r", "Purples"


def symbol(name: str) -> str:
    """The paper's symbol of a pseudo-parameter (Theorem 1): beta_2 becomes $\\beta_2$.

    Args:
        name: as in `subspace.NAMES`, or a letter alone.
    """
    letter, _, index = name.partition("_")
    return rf"$\{letter}_{{{index}}}$" if index else rf"$\{letter}$"


def colour(name: str) -> str:
    """The colour of a quantity, one throughout this book; grey for a quantity that has none.

    Args:
        name: the name of a quantity; its first word, up to an underscore, decides.
    """
    return COLOURS.get(name.partition("_")[0], COLOURS["other"])


def heat_map(
    ax: Axes,
    matrix: Float[np.ndarray, "rows columns"],
    *,
    blocks: tuple[Sequence[str], Sequence[str]] = ((), ()),
    limit: float | None = None,
    least: float | None = None,
    title: str = "",
    bar: bool = True,
) -> Axes:
    """A matrix as colours, with named blocks of equal size (Apps. A, C).

    The scale is centred at 0 and diverges, unless its start is given.

    Args:
        ax: the axes to draw on.
        matrix: the matrix that is drawn.
        blocks: names of the block rows and of the block columns; empty for none.
        limit: end of the scale, > 0; None for the greatest size of an entry.
        least: start of a sequential scale, for what is never below it; None for minus the end.
        title: the title above it.
        bar: whether its colour bar stands beside it.
    """
    limit = np.abs(matrix).max() if limit is None else limit
    rows, columns = matrix.shape
    image = ax.imshow(
        matrix,
        cmap=DIVERGING if least is None else SEQUENTIAL,
        vmin=-limit if least is None else least,
        vmax=limit,
        extent=(0, columns, rows, 0),
        rasterized=True,
    )
    ax.grid(False)
    ax.set_title(title)
    for axis, names, length in ((ax.yaxis, blocks[0], rows), (ax.xaxis, blocks[1], columns)):
        edges = np.linspace(0, length, max(1, len(names)) + 1)
        axis.set_ticks((edges[1:] + edges[:-1]) / 2 if names else [], labels=names)
        axis.set_tick_params(length=0)
        line = ax.axhline if axis is ax.yaxis else ax.axvline
        for edge in edges[1:-1]:
            line(edge, color="#777777", linewidth=0.6)
    for spine in ax.spines.values():
        spine.set_visible(True)
        spine.set_linewidth(0.6)
    if bar:
        scale = ax.figure.colorbar(image, ax=ax, shrink=0.75, pad=0.02, aspect=25)
        scale.outline.set_visible(False)
        scale.ax.tick_params(labelsize=7, length=0)
    return ax


def seed_band(
    ax: Axes,
    x: Real[np.ndarray, " times"],
    runs: Float[np.ndarray, "seeds times"],
    *,
    name: str,
    label: str = "",
    at: float | None = None,
    **line,
) -> Axes:
    """The mean over seeds with the band from least to greatest (Figs. of §4 and App. D).

    Args:
        ax: the axes to draw on.
        x: the x of the measurements.
        runs: one row per seed.
        name: the name of the quantity, which decides the colour.
        label: the text beside the curve; empty for none.
        at: the x of the label; None for the right end.
        line: further keyword arguments of Matplotlib's `plot`.
    """
    mean = runs.mean(axis=0)
    style = {"color": colour(name)} | line
    ax.plot(x, mean, **style)
    ax.fill_between(x, runs.min(axis=0), runs.max(axis=0), color=style["color"], alpha=0.18, lw=0)
    if label:
        i = -1 if at is None else int(np.argmin(np.abs(x - at)))
        ax.annotate(
            label, (x[i], mean[i]), xytext=(4, 2), textcoords="offset points",
            color=style["color"], va="bottom" if i != -1 else "center",
        )  # fmt: skip
    return ax


def predicted_curve(
    ax: Axes, x: Real[np.ndarray, " times"], curve: Float[np.ndarray, " times"], *, name: str
) -> Axes:
    """Draw the theory of a measured quantity, dashed, in a darker shade (Apps. C, D).

    Args:
        ax: the axes to draw on.
        x: the x of the values.
        curve: the values.
        name: the name of the quantity, which decides the colour.
    """
    shade = [0.55 * part for part in to_rgb(colour(name))]
    ax.plot(x, curve, "--", color=shade, lw=1.3)
    return ax


def power_law(
    ax: Axes,
    x: Real[np.ndarray, " points"],
    y: Real[np.ndarray, " points"],
    *,
    name: str,
    label: str,
    **line,
) -> Axes:
    """Points on doubly logarithmic axes, labelled at their right end (Fig. 5, App. F).

    Args:
        ax: the axes to draw on.
        x, y: the points, > 0.
        name: the name of the quantity, which decides the colour.
        label: the text beside the last point.
        line: further keyword arguments of Matplotlib's `loglog`.
    """
    ax.loglog(x, y, **({"marker": "o", "ms": 4, "color": colour(name)} | line))
    ax.annotate(
        label, (x[-1], y[-1]), xytext=(6, 0), textcoords="offset points",
        color=line.get("color", colour(name)), va="center",
    )  # fmt: skip
    return ax


def plain_ticks(*axes: Axis) -> None:
    """Draw ticks at 1, 2 and 5 of each decade, as plain numbers, in figures of this book.

    Args:
        axes: logarithmic axes, changed in place.
    """
    for axis in axes:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(_plain))
        axis.set_minor_locator(NullLocator())


def _plain(value: float, _: int | None) -> str:
    """A number without an exponent and without idle zeros."""
    return np.format_float_positional(value, precision=12, trim="-")
