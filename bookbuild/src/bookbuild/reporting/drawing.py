"""How a figure is fitted to a page, and drawn again for a phone, its panels in one column.

A chapter draws each figure once. Here its width becomes that of the page's column, its small texts
grow, and texts that would lie upon each other give way.
"""

from collections.abc import Sequence
from typing import Any

from .placing import SMALLEST, settle

# Inches, 96 pixels each: the column has 671 pixels in a window of 1280, and 341 in one of 390.
WIDE, NARROW = 7.0, 4.2
TALLEST = 0.8  # a panel that is moved, relative to its width
LIST = 0.85  # a figure that is taller, relative to its width, has a list along its axis
SLIMMEST = 1.2  # inches of a panel on a page; slimmer ones go into two columns
COLUMNS = {1: ("",), 2: ("left", "right"), 3: ("left", "middle", "right")}  # panels
ROWS = {1: ("",), 2: ("top", "bottom"), 3: ("top", "middle", "bottom")}
QUIET = "#666666"
AROUND = 0.55  # inches for what stands above and below a panel that is moved


def fit(figure: Any) -> None:
    """Fit a figure of Matplotlib to the column of a page."""
    _resize(figure, WIDE)
    panels = _panels(figure)
    if len({column for _, column in panels}) > 2:
        figure.draw_without_rendering()
        if min(ax.get_position().width for ax, *_ in panels.values()) * WIDE < SLIMMEST:
            _regrid(figure, panels, 2, WIDE)
    settle(figure)


def stack(figure: Any) -> None:
    """Fit a figure to a phone, its panels below one another, or in pairs if they have no axes."""
    panels = _panels(figure)
    if len({column for _, column in panels}) > 1:
        columns = 2 if all(map(_is_bare, panels.values())) else 1
        _regrid(figure, panels, columns, NARROW)
    else:
        width, height = figure.get_size_inches()
        keeps = len(panels) > 1 or height > LIST * width
        _resize(figure, NARROW, height if keeps else min(height, TALLEST * NARROW))
    settle(figure)


def _resize(figure: Any, width: float, height: float | None = None) -> None:
    """Make a figure at most so wide, and as much flatter where its panels have a fixed shape."""
    before, tall = figure.get_size_inches()
    fixed = any(ax.get_aspect() != "auto" for ax in figure.axes)
    if before > width:
        figure.set_size_inches(width, tall * width / before if fixed else height or tall)


def _panels(figure: Any) -> dict[tuple[int, int], list[Any]]:
    """The axes at each place of a figure's grid, by its first row and column, in reading order."""
    panels: dict[tuple[int, int], list[Any]] = {}
    for ax in figure.axes:
        if place := ax.get_subplotspec():
            panels.setdefault((place.rowspan.start, place.colspan.start), []).append(ax)
    return dict(sorted(panels.items()))


def _is_bare(group: Sequence[Any]) -> bool:
    axes = [axis for ax in group for axis in (ax.xaxis, ax.yaxis)]
    fixed = group[0].get_aspect() != "auto"
    return fixed and not any(
        axis.get_label_text() or len(axis.get_majorticklocs()) for axis in axes
    )


def _regrid(
    figure: Any, panels: dict[tuple[int, int], list[Any]], columns: int, width: float
) -> None:
    """Put panels into fewer columns, each with the labels that it shared with others.

    Where the first row alone has titles, they stand for columns, whose panels stay together. A
    panel is marked with the place that a caption knows it by.
    """
    titled = {
        any(group[0].get_title(side) for side in ("left", "center")) == (row == 0)
        for (row, _), group in panels.items()
    }
    by_column = columns == 1 and titled == {True}
    places = sorted(panels, key=lambda place: place[::-1] if by_column else place)
    before, room = figure.get_size_inches(), width / columns
    heights = [0.0] * -(-len(places) // columns)
    for number, place in enumerate(places):
        ax = panels[place][0]
        box = ax.get_position()
        shape = box.height * before[1] / (box.width * before[0])
        tall = shape * room if ax.get_aspect() != "auto" else box.height * before[1]
        heights[number // columns] = max(heights[number // columns], min(tall, TALLEST * room))
        for one in panels[place]:
            _label(one, [g[0] for (_, c), g in panels.items() if c == place[1]], "x", -1)
            _label(one, [g[0] for (r, _), g in panels.items() if r == place[0]], "y", 0)
    grid = figure.add_gridspec(len(heights), columns, height_ratios=heights)
    fewer = columns < max(column for _, column in places) + 1
    for number, place in enumerate(places):
        if fewer:
            _mark(panels[place][0])
        for ax in panels[place]:
            ax.set_subplotspec(grid[number // columns, number % columns])
    figure.set_size_inches(width, sum(heights) + AROUND * len(heights))


def _mark(ax: Any) -> None:
    """Write above a panel where it stands, unless that is known or takes more than three words."""
    place = ax.get_subplotspec()
    rows, columns, *_ = place.get_geometry()
    down, across = ROWS.get(rows), COLUMNS.get(columns)
    if ax.get_title("right") or not (down and across):
        return
    words = [down[place.rowspan.start]] if len(place.rowspan) < rows else []
    words += [across[place.colspan.start]] if len(place.colspan) < columns else []
    ax.set_title(" ".join(words), loc="right", color=QUIET, style="italic", size=SMALLEST)


def _label(ax: Any, line: Sequence[Any], name: str, which: int) -> None:
    """Give an axis that shares its scale the labels of the outermost panel of its line."""
    outer = line[which]
    if ax is outer or not getattr(ax, f"get_shared_{name}_axes")().joined(ax, outer):
        return
    side = {"x": "labelbottom", "y": "labelleft"}[name]
    axis, theirs = (getattr(one, f"{name}axis") for one in (ax, outer))
    if theirs.get_tick_params().get(side, True):
        axis.set_tick_params(which="both", **{side: True})
    if not axis.get_label_text():
        axis.set_label_text(theirs.get_label_text())
