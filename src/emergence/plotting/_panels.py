"""Whole figures of trainings: their dynamics and their weights."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float, Real
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from emergence.subspace import HEAD, INDUCTION_HEAD
from emergence.training import MinimalRecord, Prediction, Run

from ._style import COLOURS, colour, heat_map, predicted_curve, seed_band, symbol


def dynamics(
    steps: Real[np.ndarray, " times"],
    trainings: Mapping[
        str, tuple[Float[np.ndarray, "seeds times 19"], Float[np.ndarray, "seeds times"]]
    ],
    predicted: Mapping[str, tuple[Float[np.ndarray, "times 19"], Float[np.ndarray, " times"]]]
    | None = None,
) -> Figure:
    """One row per training: pseudo-parameters on the left, loss on the right (Fig. 4, App. D).

    Those of the induction head are drawn in colour, and of the others a grey mean.

    Args:
        steps: the steps of the measurements.
        trainings: by title, the 19 values and the loss of every seed.
        predicted: by title, the dashed curves; None, or no entry, where nothing is predicted.
    """
    figure, axes = plt.subplots(
        len(trainings), 2, figsize=(9.2, 2.8 * len(trainings)), sharex=True, sharey="col",
        squeeze=False,
    )  # fmt: skip
    for (left, right), (title, (pseudo, loss)) in zip(axes, trainings.items(), strict=True):
        law, expected_loss = (predicted or {}).get(title, (None, None))
        for other in np.delete(pseudo.mean(axis=0), HEAD, axis=1).T:
            left.plot(steps, other, color=COLOURS["other"], lw=0.8, alpha=0.8)
        for i, name in zip(HEAD, INDUCTION_HEAD, strict=True):
            seed_band(left, steps, pseudo[..., i], name=name, label=symbol(name))
            if law is not None:
                predicted_curve(left, steps, law[:, i], name=name)
        seed_band(right, steps, loss, name="loss")
        if expected_loss is not None:
            predicted_curve(right, steps, expected_loss, name="loss")
        left.set(title=title, ylabel="pseudo-parameter", xlabel="training step")
        right.set(ylabel="loss", ylim=(0, None), xlabel="training step")
    return figure


def training(run: Run, predicted: Prediction | None = None) -> Figure:
    """The record of a training of either network (§2, §4).

    Args:
        run: as `training.load` gives it, or put together from settings, seeds and a record.
        predicted: the path of the population gradient, dashed; None for no such curve.

    Returns:
        For the disentangled transformer a row of `plotting.dynamics`, for the other one the loss of
        each seed and the share of right answers.
    """
    if isinstance(run.record, MinimalRecord):
        record, title = run.record, f"N = {run.settings.n_pairs}, {run.settings.mask} mask"
        curves = {title: (record.pseudo.numpy(), record.loss.numpy())}
        law = {title: (predicted.pseudo, predicted.loss)} if predicted else None
        steps = record.steps.numpy()
        if law:
            law = {title: tuple(curve[steps] for curve in law[title])}
        return dynamics(steps, curves, law)
    figure, axes = plt.subplots(1, 2, figsize=(9.2, 2.8))
    for ax, name in zip(axes, ("loss", "accuracy"), strict=True):
        for each, seed in zip(run.record, run.seeds, strict=True):
            ax.plot(getattr(each, name), lw=0.9, label=f"seed {seed}")
        ax.set(xlabel="training step", ylabel=name, ylim=(0, None))
    axes[0].legend()
    return figure


#: The block of the head in each map, row and column counted from 0, and what it holds.
HEAD_BLOCKS = ((1, 1, "alpha_3"), (0, 2, "beta_2"), (0, 4, "gamma_3"))


def weight_maps(weights: Mapping[str, Float[np.ndarray, "rows columns"]], dim: int) -> Figure:
    """W1, W2 and W3 transposed as heat maps, with the head in frames (App. C, Figs. 6 to 14).

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
