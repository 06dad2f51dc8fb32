"""Figures fitted to a page and to a phone."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.text import Text

from bookbuild.reporting import drawing
from bookbuild.reporting.drawing import NARROW, SMALLEST, WIDE, fit, stack


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def grid(rows=1, columns=3, **kinds):
    """Panels with a line, a title above each column, and names along the outer axes."""
    figure, axes = plt.subplots(
        rows, columns, figsize=(11, 3 * rows), squeeze=False, layout="constrained", **kinds
    )
    for row in axes:
        row[0].set_ylabel("loss")
        for ax in row:
            ax.plot([0, 1], [0, 1])
    for number, ax in enumerate(axes[0]):
        ax.set_title(f"column {number}")
    for ax in axes[-1]:
        ax.set_xlabel("step")
    return figure, axes


def place(ax):
    """From top to bottom, from left to right."""
    spec = ax.get_subplotspec()
    return spec.rowspan.start, spec.colspan.start


def boxes(figure):
    figure.draw_without_rendering()
    texts = figure.findobj(Text)
    return [text.get_window_extent() for text in texts if text.get_visible() and text.get_text()]


def overlaps(figure):
    found = boxes(figure)
    return sum(a.overlaps(b) for i, a in enumerate(found) for b in found[:i])


def test_a_wide_figure_gets_the_width_of_the_column_and_a_small_one_keeps_its_own():
    figure, _ = grid()
    fit(figure)
    assert figure.get_size_inches() == pytest.approx((WIDE, 3))
    small, _ = plt.subplots(figsize=(5, 3), layout="constrained")
    fit(small)
    assert small.get_size_inches() == pytest.approx((5, 3))


def test_panels_of_a_fixed_shape_keep_it():
    figure, ax = plt.subplots(figsize=(14, 6), layout="constrained")
    ax.imshow(np.eye(3))
    fit(figure)
    assert figure.get_size_inches() == pytest.approx((WIDE, 3))


def test_no_text_is_small():
    figure, axes = grid()
    axes[0, 0].text(0.5, 0.2, "tiny", fontsize=4)
    axes[0, 1].tick_params(labelsize=5)
    for fitted in (fit, stack):
        fitted(figure)
        figure.draw_without_rendering()
        assert min(text.get_fontsize() for text in figure.findobj(Text)) >= SMALLEST


def test_on_a_phone_panels_lie_below_one_another_with_the_labels_they_shared():
    figure, axes = grid(sharex=True, sharey=True)
    fit(figure)
    stack(figure)
    figure.draw_without_rendering()
    assert figure.get_size_inches()[0] == NARROW
    assert [place(ax) for ax in axes[0]] == [(0, 0), (1, 0), (2, 0)]
    for ax in axes[0]:
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("step", "loss")
        assert any(label.get_text() for label in ax.get_yticklabels())
        assert ax.get_window_extent().width > 2.5 * figure.dpi


def test_axes_that_share_nothing_get_no_label_of_another():
    figure, axes = grid()
    stack(figure)
    assert [ax.get_ylabel() for ax in axes[0]] == ["loss", "", ""]


def test_titles_of_columns_keep_their_panels_together():
    figure, axes = grid(rows=2, columns=2)
    stack(figure)
    assert [place(ax)[0] for ax in axes.T.flat] == [0, 1, 2, 3]
    for number, ax in enumerate(axes[1]):
        ax.set_title(f"second {number}")
    figure, axes = grid(rows=2, columns=2)
    axes[1, 0].set_title("a row of its own")
    stack(figure)
    assert [place(ax)[0] for ax in axes.flat] == [0, 1, 2, 3]


def test_pictures_without_axes_stay_in_pairs():
    figure, axes = plt.subplots(2, 2, figsize=(8, 8), layout="constrained")
    for ax in axes.flat:
        ax.set(aspect="equal", xticks=[], yticks=[])
    stack(figure)
    assert [place(ax) for ax in axes.flat] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert figure.get_size_inches()[0] == NARROW


def test_slim_panels_go_into_two_columns_of_a_page():
    figure, axes = grid(columns=5)
    fit(figure)
    assert [place(ax) for ax in axes[0]] == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]


def test_a_colour_bar_keeps_to_its_side():
    figure, ax = plt.subplots(figsize=(4, 4), layout="constrained")
    bar = figure.colorbar(ax.imshow(np.eye(3)), ax=ax)
    fit(figure)
    figure.draw_without_rendering()
    ticks = bar.ax.yaxis.get_major_ticks()
    assert not any(tick.label1.get_visible() for tick in ticks)
    assert any(tick.label2.get_visible() for tick in ticks)


def test_labels_at_one_place_move_apart():
    figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
    for name in ("one", "two", "three"):
        ax.annotate(name, (0.5, 0.5), xytext=(4, 0), textcoords="offset points")
    ax.text(0.5, 0.5, "four")
    assert overlaps(figure) > 0
    for fitted in (fit, stack):
        fitted(figure)
        assert overlaps(figure) == 0


def test_a_label_that_a_curve_crosses_gets_a_ground_and_no_other_does():
    figure, ax = plt.subplots(layout="constrained")
    ax.plot([0, 0.5], [0.5, 0.5])
    ax.plot([0.2], [0.2], "o", ls="None")
    crossed = ax.text(0.2, 0.5, "on the curve", va="center")
    clear = [ax.text(0.7, 0.5, "beside it", va="center"), ax.annotate(
        "with an arrow", (0.4, 0.5), (0.4, 0.8), arrowprops={"arrowstyle": "->"})]  # fmt: skip
    fit(figure)
    assert crossed.get_bbox_patch() is not None
    assert [text.get_bbox_patch() for text in clear] == [None, None]


def test_numbers_at_ticks_that_touch_are_thinned_and_words_are_not():
    figure, (ax, words) = plt.subplots(2, 1, figsize=(4, 3), layout="constrained")
    ax.set_xticks(np.linspace(0.4, 0.6, 40))
    words.set_xticks([0, 0.01], labels=["yesterday", "today"])
    fit(figure)
    figure.draw_without_rendering()
    shown = [label for label in ax.get_xticklabels() if label.get_visible()]
    assert 1 < len(shown) < 40
    assert len(words.get_xticklabels()) == 2


def test_long_names_break_but_formulas_do_not():
    figure, ax = plt.subplots(figsize=(3, 2), layout="constrained")
    ax.set_ylabel("the loss that is left after training of $a + b + c$ for long")
    fit(figure)
    lines = ax.get_ylabel().splitlines()
    assert len(lines) > 1
    assert any("$a + b + c$" in line for line in lines)


def test_a_label_that_its_panel_cuts_is_left_out():
    figure, ax = plt.subplots(figsize=(4, 3), layout="constrained")
    ax.set(xlim=(0, 1), ylim=(0, 1))
    cut = ax.text(0.99, 0.5, "8000", clip_on=True)
    whole = ax.text(0.5, 0.5, "4000", clip_on=True)
    beside = ax.annotate("a curve", (1, 0.2), xytext=(4, 0), textcoords="offset points")
    fit(figure)
    shown = [text.get_visible() for text in (cut, whole, beside)]
    assert shown == [False, True, True]


def test_a_figure_without_a_grid_is_fitted_too():
    figure = plt.figure(figsize=(10, 3), layout="none")  # a constrained one lacks a grid and warns
    figure.add_axes((0.1, 0.1, 0.8, 0.8)).plot([0, 1])
    fit(figure)
    assert figure.get_size_inches()[0] == WIDE
    stack(figure)
    assert figure.get_size_inches()[0] == NARROW
    assert figure.get_size_inches()[1] <= drawing.TALLEST * NARROW


@pytest.mark.parametrize(
    ("shape", "marks"),
    [
        ((1, 2), ["left", "right"]),
        ((1, 3), ["left", "middle", "right"]),
        ((2, 2), ["top left", "top right", "bottom left", "bottom right"]),
        ((1, 4), [""] * 4),
    ],
)
def test_panels_that_move_are_marked_with_the_place_that_captions_name(shape, marks):
    figure, axes = grid(*shape)
    before = [ax.get_title("right") for ax in axes.flat]
    fit(figure)
    assert [ax.get_title("right") for ax in axes.flat] == before
    stack(figure)
    assert [ax.get_title("right") for ax in axes.flat] == marks
