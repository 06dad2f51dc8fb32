"""Figures from arrays. Importing this module sets the book's Matplotlib style."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float, Real
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter

plt.style.use(Path(__file__).with_name("book.mplstyle"))

# One colour a quantity throughout the book (Okabe and Ito's palette, safe for colour-blind eyes).
COLOURS = {
    "alpha": "#0072B2",
    "beta": "#D55E00",
    "gamma": "#009E73",
    "loss": "#5B4B8A",
    "other": "#999999",
}
DIVERGING = "RdBu_r"


def symbol(name: str) -> str:
    """The paper's symbol of a pseudo-parameter: beta_2 becomes $\\beta_2$."""
    letter, _, index = name.partition("_")
    return rf"$\{letter}_{{{index}}}$" if index else rf"$\{letter}$"


def colour(name: str) -> str:
    """The colour of a quantity, by the word before its index."""
    return COLOURS.get(name.partition("_")[0], COLOURS["other"])


def heat_map(
    ax: Axes,
    matrix: Float[np.ndarray, "rows columns"],
    *,
    blocks: tuple[Sequence[str], Sequence[str]] = ((), ()),
    limit: float | None = None,
    title: str = "",
) -> Axes:
    """A matrix on a diverging scale centred at 0, with named blocks of equal size."""
    limit = np.abs(matrix).max() if limit is None else limit
    rows, columns = matrix.shape
    image = ax.imshow(
        matrix,
        cmap=DIVERGING,
        vmin=-limit,
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
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.75, pad=0.02, aspect=25)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=7, length=0)
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
    """The mean over seeds with the band from least to greatest, labelled at x = `at`."""
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
    """What theory says of a measured quantity: dashed, a darker shade of its colour."""
    shade = [0.55 * part for part in to_rgb(colour(name))]
    ax.plot(x, curve, "--", color=shade, lw=1.3)
    return ax


def pseudo_curves(
    ax: Axes,
    steps: Real[np.ndarray, " times"],
    values: Float[np.ndarray, "seeds times 19"],
    names: Sequence[str],
    highlight: Sequence[str],
    predicted: Float[np.ndarray, "times 19"] | None = None,
) -> Axes:
    """All pseudo-parameters against training steps, the highlighted ones coloured and labelled.

    What is predicted for the highlighted ones is dashed.
    """
    for i, name in enumerate(names):
        if name not in highlight:
            ax.plot(steps, values[..., i].mean(axis=0), color=COLOURS["other"], lw=0.8, alpha=0.8)
    for name in highlight:
        i = list(names).index(name)
        seed_band(ax, steps, values[..., i], name=name, label=symbol(name))
        if predicted is not None:
            predicted_curve(ax, steps, predicted[:, i], name=name)
    ax.set_xlabel("training step")
    ax.set_ylabel("pseudo-parameter")
    return ax


def dynamics(
    steps: Real[np.ndarray, " times"],
    trainings: Mapping[
        str, tuple[Float[np.ndarray, "seeds times 19"], Float[np.ndarray, "seeds times"]]
    ],
    names: Sequence[str],
    highlight: Sequence[str],
    predicted: Mapping[str, tuple[Float[np.ndarray, "times 19"], Float[np.ndarray, " times"]]]
    | None = None,
) -> Figure:
    """A row a training: its pseudo-parameters on the left, its loss on the right (Fig. 4).

    Rows share one scale. A training named in `predicted` has the predicted curves on the same axes.
    """
    figure, axes = plt.subplots(
        len(trainings), 2, figsize=(9.2, 2.8 * len(trainings)), sharex=True, sharey="col",
        squeeze=False,
    )  # fmt: skip
    for row, (title, (pseudo, loss)) in zip(axes, trainings.items(), strict=True):
        expected = (predicted or {}).get(title, (None, None))
        pseudo_curves(row[0], steps, pseudo, names, highlight, expected[0])
        seed_band(row[1], steps, loss, name="loss")
        if expected[1] is not None:
            predicted_curve(row[1], steps, expected[1], name="loss")
        row[0].set_title(title)
        row[1].set(ylabel="loss", ylim=(0, None), xlabel="training step")
    return figure


def weight_maps(weights: Mapping[str, Float[np.ndarray, "rows columns"]], dim: int) -> Figure:
    """W1, W2 and the transpose of W3 of Eq. 1 as heat maps with blocks of size D."""
    figure, axes = plt.subplots(
        1, 3, figsize=(10.5, 3.9), width_ratios=(2.2, 3.2, 4.2), layout="constrained"
    )
    parts = (weights["w1"], weights["w2"], weights["w3"].T)
    for ax, matrix, k in zip(axes, parts, (1, 2, 3), strict=True):
        n_rows, n_columns = (size // dim for size in matrix.shape)
        blocks = [str(i + 1) for i in range(n_rows)], [str(i + 1) for i in range(n_columns)]
        title = rf"$W^{{({k})}}$" + (" transposed" if k == 3 else "")
        heat_map(ax, matrix, blocks=blocks, title=title)
    return figure


def power_law(
    ax: Axes,
    x: Real[np.ndarray, " points"],
    y: Real[np.ndarray, " points"],
    *,
    name: str,
    label: str,
    **line,
) -> Axes:
    """Points on doubly logarithmic axes, labelled at their right end."""
    ax.loglog(x, y, **({"marker": "o", "ms": 4, "color": colour(name)} | line))
    ax.annotate(
        label, (x[-1], y[-1]), xytext=(6, 0), textcoords="offset points",
        color=line.get("color", colour(name)), va="center",
    )  # fmt: skip
    return ax


def plain_ticks(*axes: Axis) -> None:
    """Ticks at 1, 2 and 5 of each decade, as plain numbers."""
    for axis in axes:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(ScalarFormatter())
        axis.set_minor_locator(NullLocator())
