"""Whole figures of trainings: their dynamics and their weights."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Float, Real
from matplotlib.figure import Figure

from emergence.subspace import (
    ALPHA_BLOCKS,
    BETA_BLOCKS,
    GAMMA_BLOCKS,
    HEAD,
    INDUCTION_HEAD,
    NAMES,
)
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


#: The bands that leaders name: the map, the parameter, what it multiplies, a place of the band and
#: the place of the label, right and down in blocks.
BANDS = (
    (0, "alpha_3", "M", (1.75, 1.25), (1.5, 0.6)),
    (0, "alpha_3", "M", (1.25, 1.75), (0.5, 1.7)),
    (0, "alpha_2", "I", (1.2, 1.2), (0.5, 1.2)),
    (1, "beta_2", "I", (2.5, 0.5), (3.5, 0.5)),
    (2, "gamma_3", "I", (4.5, 0.5), (5.5, 0.5)),
)
NAMED = 0.1  # of the scale: leaders name no band that is paler


def weight_maps(
    weights: Mapping[str, Float[np.ndarray, "rows columns"]],
    dim: int,
    *,
    limit: float | None = None,
) -> Figure:
    """W1, W2 and W3 transposed as heat maps, with the 19 pseudo-parameters (App. C, Figs. 6 to 14).

    Leaders name the bands of the head. A grey band behind the bars reaches to the largest mean
    along a diagonal of a block that Theorem 1 forbids.

    Args:
        weights: the matrices by the names `w1`, `w2` and `w3`.
        dim: side D of a block.
        limit: end of the one colour scale, > 0; None for the greatest size of an entry.
    """
    if limit is None:
        limit = max(float(np.abs(matrix).max()) for matrix in weights.values())
    figure = plt.figure(figsize=(7, 5.2), layout="constrained")
    grid = figure.add_gridspec(2, 3, width_ratios=(2, 4, 1.9), height_ratios=(3.8, 1.2))
    maps = [figure.add_subplot(place, anchor="N") for place in (grid[0, 0], grid[0, 1], grid[1, :])]
    bars = figure.add_subplot(grid[0, 2])
    values, forbidden = _along_diagonals(weights, dim)
    for k, ax in enumerate(maps):
        matrix = weights[f"w{k + 1}"]
        matrix = matrix.T if k == 2 else matrix
        rows, columns = ([str(i + 1) for i in range(size // dim)] for size in matrix.shape)
        title = rf"$W^{{({k + 1})}}$" + (" transposed" if k == 2 else "")
        heat_map(ax, matrix, blocks=(rows, columns), limit=limit, title=title, bar=False)
        for place, name, unit, band, label in BANDS:
            if place != k or (name not in INDUCTION_HEAD and abs(values[name]) < NAMED * limit):
                continue
            shade = colour(name)
            ax.annotate(
                rf"{symbol(name)}$\mathbf{{{unit}}}$", (band[0] * dim, band[1] * dim), color=shade,
                xytext=(label[0] * dim, label[1] * dim), ha="center", va="center",
                arrowprops={"arrowstyle": "-", "color": shade, "shrinkA": 1, "shrinkB": 2},
            )  # fmt: skip
    scale = maps[0].inset_axes((0, -0.32, 1, 0.07))
    bar = figure.colorbar(maps[0].images[0], cax=scale, orientation="horizontal")
    bar.outline.set_visible(False)
    bars.axvspan(-forbidden, forbidden, color=COLOURS["other"], alpha=0.35, lw=0)
    for i, (name, value) in enumerate(values.items()):
        bars.barh(i, value, height=0.7, color=colour(name), alpha=1 if i in HEAD else 0.5)
    bars.set_yticks(range(len(values)), [symbol(name) for name in values])
    bars.set(xlabel="pseudo-parameter", ylim=(len(values) - 0.4, -0.6))
    bars.grid(axis="y", visible=False)
    return figure


def _along_diagonals(
    weights: Mapping[str, Float[np.ndarray, "rows columns"]], dim: int
) -> tuple[dict[str, float], float]:
    """The 19 pseudo-parameters, and the largest mean along I or M that Theorem 1 forbids."""
    means: dict[tuple[str, int, int, bool], float] = {}
    for letter, key in zip(("alpha", "beta", "gamma"), ("w1", "w2", "w3"), strict=True):
        matrix = weights[key]
        rows, columns = (size // dim for size in matrix.shape)
        tiles = matrix.reshape(rows, dim, columns, dim)
        for swapped in (False, True):
            turned = np.roll(tiles, dim // 2, axis=1) if swapped else tiles
            mean = np.einsum("ricj,ij->rc", turned, np.eye(dim)) / dim
            means |= {(letter, r, c, swapped): mean[r, c] for r, c in np.ndindex(rows, columns)}
    layout = {"alpha": ALPHA_BLOCKS, "beta": BETA_BLOCKS, "gamma": GAMMA_BLOCKS}
    places = [(letter, *block) for letter, blocks in layout.items() for block in blocks]
    values = {name: float(means.pop(place)) for name, place in zip(NAMES, places, strict=True)}
    return values, float(np.abs(list(means.values())).max())
