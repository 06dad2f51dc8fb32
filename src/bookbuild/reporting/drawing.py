"""How a figure is fitted to a page, and drawn again for a phone, its panels in one column.

A chapter draws each figure once. Here its width becomes that of the page's column, its small texts
grow, and texts that would lie upon each other give way.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

# Inches, 96 pixels each: the column has 671 pixels in a window of 1280, and 341 in one of 390.
WIDE, NARROW = 7.0, 4.2
SMALLEST = 8.8  # points: 11.7 pixels of a wide drawing, and 9.9 of a narrow one at 341 pixels
TALLEST = 0.8  # a panel that is moved, relative to its width
LIST = 0.85  # a figure that is taller, relative to its width, has a list along its axis
SLIMMEST = 1.2  # inches of a panel on a page; slimmer ones go into two columns
COLUMNS = {1: ("",), 2: ("left", "right"), 3: ("left", "middle", "right")}  # panels
ROWS = {1: ("",), 2: ("top", "bottom"), 3: ("top", "middle", "bottom")}
QUIET = "#666666"
AROUND = 0.55  # inches for what stands above and below a panel that is moved
GAP = 2.0  # pixels of a drawing between two texts
FARTHEST = 80  # pixels that a text moves to be free
NUMBER = re.compile(r"(?:[-−+\d.,^{}$%\s]|\\mathdefault|\\times)*")
FORMULA = re.compile(r"\$[^$]*\$")


def fit(figure: Any) -> None:
    """Fit a figure of Matplotlib to the column of a page."""
    _resize(figure, WIDE)
    panels = _panels(figure)
    if len({column for _, column in panels}) > 2:
        figure.draw_without_rendering()
        if min(ax.get_position().width for ax, *_ in panels.values()) * WIDE < SLIMMEST:
            _regrid(figure, panels, 2, WIDE)
    _settle(figure)


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
    _settle(figure)


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
    """Whether a panel has a fixed shape and neither ticks nor names along its axes."""
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


def _settle(figure: Any) -> None:
    """Enlarge small texts, break long ones, and let those that overlap give way."""
    changed = True
    for step in (_enlarge, _break_lines, _thin_ticks, _spread):
        if changed:
            figure.draw_without_rendering()  # now texts know their places
        changed = step(figure)


def _enlarge(figure: Any) -> bool:
    """Enlarge small texts; return whether there were any, as all these steps do."""
    from matplotlib.text import Text

    small = [text for text in figure.findobj(Text) if text.get_fontsize() < SMALLEST]
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            labels = [*axis.get_majorticklabels(), *axis.get_minorticklabels()]
            if any(label.get_fontsize() < SMALLEST for label in labels):
                axis.set_tick_params(which="both", labelsize=SMALLEST)  # also of ticks to come
    for text in small:
        text.set_fontsize(SMALLEST)
    return bool(small)


def _break_lines(figure: Any) -> bool:
    """Break titles and names of axes that are longer than these."""
    broken = []
    for ax in figure.axes:
        box = ax.get_window_extent()
        beside = 0.8 if ax.get_title("right") else 1.0
        titles = [(title, beside * box.width) for title in (ax.title, ax._left_title)]
        for text, room in (*titles, (ax.xaxis.label, box.width)):
            broken.append(_break(text, text.get_window_extent().width / room))
        name = ax.yaxis.label
        broken.append(_break(name, name.get_window_extent().height / box.height))
    return any(broken)


def _break(text: Any, excess: float) -> bool:
    """Break a text that is longer than its room by this factor; formulas stay whole."""
    if excess < 1.05 or not text.get_text():
        return False
    said = FORMULA.sub(lambda formula: formula[0].replace(" ", "\0"), text.get_text())
    room = int(max(map(len, said.splitlines())) / excess) + 1
    lines = [
        part
        for line in said.splitlines()
        for part in textwrap.wrap(line, room, break_long_words=False, break_on_hyphens=False)
    ]
    text.set_text("\n".join(lines).replace("\0", " "))
    return True


def _thin_ticks(figure: Any) -> bool:
    """Hide numbers at ticks that overlap others, minor ones first; no word is hidden."""
    hidden = []
    for ax in figure.axes:
        for axis, side in ((ax.xaxis, "labelbottom"), (ax.yaxis, "labelleft")):
            ticks = {"major": axis.get_major_ticks(), "minor": axis.get_minor_ticks()}
            for which, those in ticks.items():
                for tick in those:
                    tick.label1.set_visible(axis.get_tick_params(which).get(side, True))
            kept: list[Any] = []
            for label in _shown((*axis.get_majorticklabels(), *axis.get_minorticklabels())):
                box = _box(label)
                if NUMBER.fullmatch(label.get_text()) and not _is_free(box, kept):
                    hidden.append(label)
                else:
                    kept.append(box)
    for label in hidden:
        label.set_visible(False)
    return bool(hidden)


def _spread(figure: Any) -> bool:
    """Move texts within panels up or down, as little as makes them free of all others.

    A text that its panel cuts, such as a contour's label, is left out.
    """
    texts = [text for ax in figure.axes for text in _shown(ax.texts)]
    for text in texts:
        clipped = text.get_clip_on() and (text.get_clip_box() or text.get_clip_path())
        if clipped and not _holds(text.axes.get_window_extent(), _box(text)):
            text.set_visible(False)
    free = list(_shown(texts))
    movable = set(map(id, texts))
    kept = [_box(text) for text in _all_texts(figure) if id(text) not in movable]
    moved = False
    for text in free:
        box = _box(text)
        for up in sorted(range(-FARTHEST, FARTHEST + 1), key=abs):
            if _is_free(box.translated(0, up), kept):
                break
        else:
            up = 0  # nowhere is room
        if up:
            _move(text, up)
            moved = True
        kept.append(box.translated(0, up))
    return moved or len(free) < len(texts)


def _move(text: Any, up: float) -> None:
    """Move a text by so many pixels, in whatever coordinates it has its place."""
    to = text.get_transform()
    x, y = to.transform(text.get_unitless_position())
    text.set_position(to.inverted().transform((x, y + up)))


def _holds(outer: Any, inner: Any) -> bool:
    return (
        outer.x0 <= inner.x0
        and inner.x1 <= outer.x1
        and outer.y0 <= inner.y0
        and inner.y1 <= outer.y1
    )


def _is_free(box: Any, kept: Iterable[Any]) -> bool:
    return not any(box.overlaps(other) for other in kept)


def _box(text: Any) -> Any:
    """The room of a text and of half the gap around it, in pixels of the drawing."""
    return text.get_window_extent().padded(GAP / 2)


def _all_texts(figure: Any) -> Iterator[Any]:
    """All texts that are drawn."""
    from matplotlib.text import Text

    return _shown(figure.findobj(Text))


def _shown(texts: Iterable[Any]) -> Iterator[Any]:
    return (text for text in texts if text.get_visible() and text.get_text().strip())
