"""Figures fitted to a page and to a phone; tests/site looks at the texts of all of them."""

import pytest
from matplotlib import pyplot as plt

from bookbuild.reporting.drawing import NARROW, fit, stack


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


def rows_of(axes):
    """The rows of panels, counted from the top."""
    return [ax.get_subplotspec().rowspan.start for ax in axes]


def test_on_a_phone_panels_lie_below_one_another_with_the_labels_they_shared():
    figure, axes = grid(sharex=True, sharey=True)
    fit(figure)
    stack(figure)
    figure.draw_without_rendering()
    assert figure.get_size_inches()[0] == NARROW
    assert rows_of(axes[0]) == [0, 1, 2]
    for ax in axes[0]:
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("step", "loss")
        assert any(label.get_text() for label in ax.get_yticklabels())
        assert ax.get_window_extent().width > 2.5 * figure.dpi


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
