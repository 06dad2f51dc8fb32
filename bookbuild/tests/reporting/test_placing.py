"""Labels of curves: beside their own, in the order of the ends, on no curve."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from bookbuild.reporting.drawing import fit, misplaced, stack

X = np.linspace(0, 1, 50)
SHADES = ("#0072B2", "#D55E00", "#009E73")


@pytest.fixture
def ax():
    figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
    yield axes
    plt.close(figure)


def label(ax, text, x, y, colour, **place):
    look = {"xytext": (4, 0), "textcoords": "offset points", "va": "center"} | place
    return ax.annotate(text, (x, y), color=colour, **look)


def heights(labels):
    return [text.get_window_extent().y0 for text in labels]


@pytest.mark.parametrize("fitted", [fit, stack])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_labels_keep_the_order_of_the_ends_in_whatever_order_they_are_drawn(ax, fitted, order):
    ends, labels = (0.5, 0.52, 0.54), {}
    ax.set_ylim(0, 1)
    for i in order:
        ax.plot(X, ends[i] * X, color=SHADES[i])
        labels[i] = label(ax, f"curve {i}", 1, ends[i], SHADES[i])
    fitted(ax.figure)
    assert heights(labels[i] for i in range(3)) == sorted(heights(labels.values()))
    assert misplaced(ax.figure) == []


def test_a_label_leaves_the_curve_on_which_it_was_drawn(ax):
    ax.plot(X, X, color=SHADES[0])
    ax.plot(X, 0.9 + 0.1 * X, color=SHADES[1])
    text = label(ax, "rising", 0.5, 0.5, SHADES[0], xytext=(0, 0), ha="center")
    assert misplaced(ax.figure) == ["the label 'rising' lies on a curve"]
    fit(ax.figure)
    assert misplaced(ax.figure) == []
    assert text.get_bbox_patch() is None  # nothing pale cuts the curve


def test_a_label_beside_the_curve_of_another_colour_is_a_fault(ax):
    for height, shade in zip((0.2, 0.8), SHADES, strict=False):
        ax.plot(X, np.full(len(X), height), color=shade)
    label(ax, "low", 0.5, 0.6, SHADES[0])
    assert misplaced(ax.figure) == ["the label 'low' is nearest to another curve"]
    fit(ax.figure)
    assert misplaced(ax.figure) == []


def test_guides_and_the_shade_of_predictions_are_no_other_curves(ax):
    ax.plot(X, X, color=SHADES[0])
    ax.plot(X, 0.97 * X, "--", color=[0.55 * part for part in (0, 0x72 / 255, 0xB2 / 255)])
    ax.axhline(0.75, color="#999999")
    label(ax, "end", 1, 0.9, SHADES[0])
    assert misplaced(ax.figure) == []


def test_the_words_of_a_key_may_stand_beside_any_curve(ax):
    for height, shade in zip((0.2, 0.8), SHADES, strict=False):
        ax.plot(X, np.full(len(X), height), color=shade)
    ax.text(0.1, 0.85, "low", transform=ax.transAxes, color=SHADES[0])
    ax.annotate("low", (0.9, 0.85), xycoords="axes fraction", color=SHADES[0])
    assert misplaced(ax.figure) == []
