"""Whole figures of trainings: their dynamics and their weights."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float, Real
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ._style import COLOURS, colour, heat_map, predicted_curve, seed_band, symbol


def pseudo_curves(
    ax: Axes,
    steps: Real[np.ndarray, " times"],
    values: Float[np.ndarray, "seeds times 19"],
    names: Sequence[str],
    highlight: Sequence[str],
    predicted: Float[np.ndarray, "times 19"] | None = None,
) -> Axes:
    """All pseudo-parameters against training steps, the highlighted ones labelled (Fig. 4, App. D).

    Args:
        ax: the axes to draw on.
        steps: the steps of the measurements.
        values: the 19 values of every seed.
        names: the names of the 19, in their order.
        highlight: the names drawn in colour; of the others a grey mean is drawn.
        predicted: dashed curves for the highlighted ones, or None.
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
    """One row per training: pseudo-parameters on the left, loss on the right (Fig. 4, App. D).

    Args:
        steps: the steps of the measurements.
        trainings: by title, the 19 values and the loss of every seed.
        names: the names of the 19, in their order.
        highlight: the names drawn in colour.
        predicted: dashed curves by title, or None.

    Returns:
        The figure, whose rows share one scale.
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


#: The block of the head in each map, row and column counted from 0, and what it holds.
HEAD_BLOCKS = ((1, 1, "alpha_3"), (0, 2, "beta_2"), (0, 4, "gamma_3"))


def weight_maps(weights: Mapping[str, Float[np.ndarray, "rows columns"]], dim: int) -> Figure:
    """W1, W2 and the transpose of W3 of Eq. 1 as heat maps (App. C, Figs. 6 to 14).

    The blocks of alpha_3, beta_2 and gamma_3 have frames.

    Args:
        weights: the matrices by the names `w1`, `w2` and `w3`.
        dim: side D of a block.
    """
    figure, axes = plt.subplots(
        1, 3, figsize=(10.5, 3.9), width_ratios=(2.2, 3.2, 4.2), layout="constrained"
    )
    parts = (weights["w1"], weights["w2"], weights["w3"].T)
    for ax, matrix, k in zip(axes, parts, (1, 2, 3), strict=True):
        n_rows, n_columns = (size // dim for size in matrix.shape)
        blocks = [str(i + 1) for i in range(n_rows)], [str(i + 1) for i in range(n_columns)]
        title = rf"$W^{{({k})}}$" + (" transposed" if k == 3 else "")
        heat_map(ax, matrix, blocks=blocks, title=title)
        row, column, name = HEAD_BLOCKS[k - 1]
        ax.add_patch(
            Rectangle(
                (column * dim, row * dim), dim, dim, fill=False, lw=1.6, ec=colour(name), zorder=3
            )
        )
        ax.annotate(
            symbol(name), (column * dim, (row + 1) * dim), xytext=(2, 3), color=colour(name),
            textcoords="offset points", weight="bold", size=11,
        )  # fmt: skip
    return figure
