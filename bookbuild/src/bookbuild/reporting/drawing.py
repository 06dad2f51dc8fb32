"""How a figure is fitted to a page, and drawn again for a phone, its panels in one column.

A chapter draws each figure once. Here its width becomes that of the page's column, and its small
texts grow. Texts that would lie upon each other give way; labels stand beside their own curves, and
on no curve or other text.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from matplotlib.transforms import Bbox

SMALLEST = 8.8  # points: 11.7 pixels of a wide drawing, and 9.9 of a narrow one at 341 pixels
NUMBER = re.compile(r"(?:[-−+\d.,^{}$%\s]|\\mathdefault|\\times)*")
FORMULA = re.compile(r"\$[^$]*\$")
GAP = 2.0  # pixels of a drawing between two texts
FARTHEST = 80  # pixels that a text moves to be free
SPACING = 3.0  # pixels between two points of a curve
END = 4.0  # pixels from the end of a curve to what its label points at
DARKER = 0.55  # of the brightness of a colour, for what theory predicts of the same quantity
ON_CURVE, ON_GUIDE, ASTRAY = 300.0, 12.0, 150.0  # pixels that a text moves to avoid this
# to the right and up, the nearest first; sideways only within a panel
MOVES = sorted(
    [(0, up) for up in range(-FARTHEST, FARTHEST + 1)]
    + [(x, y) for x in range(-96, 97, 8) if x for y in range(-60, 61, 4)],
    key=lambda move: np.hypot(*move),
)
# Inches, 96 pixels each: the column has 671 pixels in a window of 1280, and 341 in one of 390.
WIDE, NARROW = 7.0, 4.2
TALLEST = 0.8  # a panel that is moved, relative to its width
LIST = 0.85  # a figure that is taller, relative to its width, has a list along its axis
SLIMMEST = 1.2  # inches of a panel on a page; slimmer ones go into two columns
COLUMNS = {1: ("",), 2: ("left", "right"), 3: ("left", "middle", "right")}  # panels
ROWS = {1: ("",), 2: ("top", "bottom"), 3: ("top", "middle", "bottom")}
QUIET = "#666666"
AROUND = 0.55  # inches for what stands above and below a panel that is moved


def settle(figure: Any) -> None:
    """Enlarge small texts, break long ones, let those that overlap give way, back the crossed."""
    changed = True
    for step in (_enlarge, _break_lines, _thin_ticks, spread, back):
        if changed:
            figure.draw_without_rendering()  # now texts know their places
        changed = step(figure)


def _enlarge(figure: Any) -> bool:
    """Enlarge small texts; return whether there were any, as all these steps do."""
    small = [text for text in figure.findobj(Text) if text.get_fontsize() < SMALLEST]
    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
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
            for label in shown((*axis.get_majorticklabels(), *axis.get_minorticklabels())):
                box = box_of(label)
                if NUMBER.fullmatch(label.get_text()) and any(map(box.overlaps, kept)):
                    hidden.append(label)
                else:
                    kept.append(box)
    for label in hidden:
        label.set_visible(False)
    return bool(hidden)


@dataclass(frozen=True)
class Stroke:
    """A line or the markers of a panel as points in pixels, and half its width."""

    panel: Any
    points: np.ndarray  # (points, 2)
    reach: float
    colour: Any
    is_guide: bool  # across the whole panel

    def distance(self, box: Bbox) -> float:
        """Return how far it is from a box, negative where it crosses that."""
        beside = np.maximum(np.maximum(box.min - self.points, self.points - box.max), 0)
        return np.hypot(*beside.T).min(initial=np.inf) - self.reach

    def within(self, box: Bbox) -> "Stroke":
        """Return what of it lies in a box."""
        inside = np.all((self.points >= box.min) & (self.points <= box.max), axis=1)
        return replace(self, points=self.points[inside])


def spread(figure: Any) -> bool:
    """Move texts within panels to where they are free; return whether any has moved.

    Labels at the ends of curves keep the order of these. A text that its panel cuts, such as a
    contour's label, is left out.
    """
    texts = [text for ax in figure.axes for text in shown(ax.texts)]
    for text in texts:
        clipped = text.get_clip_on() and (text.get_clip_box() or text.get_clip_path())
        panel, box = text.axes.get_window_extent(), box_of(text)
        if clipped and not _holds(panel, box):
            text.set_visible(False)
    free, movable = list(shown(texts)), set(map(id, texts))
    kept = [box_of(text) for text in shown(figure.findobj(Text)) if id(text) not in movable]
    strokes = _strokes(figure)
    stacked = _stacked_ends(free, strokes)
    moved = False
    for text in sorted(free, key=lambda text: id(text) not in stacked):
        right, up = _move_of(text, stacked.get(id(text), 0.0), strokes, kept)
        kept.append(box_of(text).translated(right, up))
        if right or up:
            to = text.get_transform()
            x, y = to.transform(text.get_unitless_position())
            text.set_position(to.inverted().transform((x + right, y + up)))
            moved = True
    return moved or len(free) < len(texts)


def back(figure: Any) -> bool:
    """Put white, which the dark scheme turns round, behind texts that a curve still crosses."""
    backed, strokes = False, _strokes(figure)
    for text in (text for ax in figure.axes for text in shown(ax.texts)):
        crossed = any(stroke.distance(_words(text)) < 0 for stroke in strokes)
        if crossed and text.get_bbox_patch() is None:
            text.set_bbox({"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5})
            backed = True
    return backed


def misplaced(figure: Any) -> list[str]:
    """Return a sentence for each label on a curve, or nearest to one of another colour."""
    figure.draw_without_rendering()
    strokes = _strokes(figure)
    faults = []
    for text in (text for ax in figure.axes for text in shown(ax.texts)):
        box = _words(text)
        if _crosses(box, strokes, guides=False):
            faults.append(f"the label {text.get_text()!r} lies on a curve")
        elif _is_astray(text, box, strokes):
            faults.append(f"the label {text.get_text()!r} is nearest to another curve")
    return faults


def box_of(text: Text) -> Bbox:
    """Return the room of a text and of half the gap around it, in pixels of the drawing."""
    return text.get_window_extent().padded(GAP / 2)


def shown(texts: Iterable[Any]) -> Iterator[Any]:
    """Yield the texts that a reader sees."""
    return (text for text in texts if text.get_visible() and text.get_text().strip())


def _words(text: Text) -> Bbox:
    """Return the room of the words of a text, without the arrow of an annotation."""
    return Text.get_window_extent(text).padded(-1)


def _strokes(figure: Any) -> list[Stroke]:
    """Return what the lines of a figure show within their panels."""
    strokes = []
    for line in (line for ax in figure.axes for line in ax.lines if line.get_visible()):
        ax = line.axes
        points = line.get_transform().transform(line.get_xydata())
        panel = ax.get_window_extent().padded(1)
        parts = [(points, line.get_markersize())] if line.get_marker() != "None" else []
        if line.get_linestyle() != "None":
            parts.append((_dense(points), line.get_linewidth()))
        is_guide = not all(line.get_transform().contains_branch_seperately(ax.transData))
        for part, width in parts:
            reach = width / 2 * figure.dpi / 72
            stroke = Stroke(ax, part, reach, to_rgb(line.get_color()), is_guide)
            strokes.append(stroke.within(panel))
    return strokes


def _dense(points: np.ndarray) -> np.ndarray:
    """Return points along the lines between points, where both are finite."""
    finite = np.isfinite(points).all(axis=1)
    starts, ways = points[:-1], np.diff(points, axis=0)
    lengths = np.where(finite[:-1] & finite[1:], np.hypot(*ways.T), np.nan)
    counts = np.nan_to_num(np.ceil(np.minimum(lengths, 6000) / SPACING)).astype(int)
    lines = np.repeat(np.arange(len(counts)), counts)
    along = (np.arange(len(lines)) - np.repeat(counts.cumsum() - counts, counts)) / counts[lines]
    return np.concatenate([starts[lines] + along[:, None] * ways[lines], points[-1:]])


def _stacked_ends(texts: Sequence[Any], strokes: Sequence[Stroke]) -> dict[int, float]:
    """Return by how much the labels at ends of curves move up to keep the order of the ends."""
    groups: dict[Any, list[tuple[float, Any]]] = {}
    for text in texts:
        at, box = _anchor(text), _words(text)
        ends = (stroke.points[[0, -1]] for stroke in strokes if len(stroke.points))
        if any(np.hypot(*(end - at).T).min() < END for end in ends):
            side = "right" if box.x0 > at[0] else "left" if box.x1 < at[0] else ""
            groups.setdefault((text.axes, side), []).append((at[1], text))
    moves = {}
    for (_, side), group in groups.items():
        group = sorted(group, key=lambda each: each[0]) if side else []
        boxes = [box_of(text) for _, text in group]
        wanted = np.array([(box.y0 + box.y1) / 2 for box in boxes])
        places = _stacked(wanted, np.array([box.height + 0.1 for box in boxes]))
        for (_, text), up in zip(group, places - wanted, strict=True):
            moves[id(text)] = float(up)
    return moves


def _stacked(wanted: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Return middles of boxes on one another, near where they want to be: isotonic regression."""
    steps = np.cumsum(heights) - heights / 2
    pooled: list[tuple[float, int]] = []  # sums and numbers of boxes that touch
    for total in wanted - steps:
        count = 1
        while pooled and pooled[-1][0] / pooled[-1][1] > total / count:
            before, more = pooled.pop()
            total, count = total + before, count + more
        pooled.append((total, count))
    return steps + [total / count for total, count in pooled for _ in range(count)]


def _anchor(text: Any) -> np.ndarray:
    """Return what a text points at, in pixels: its own place unless it is an annotation."""
    if getattr(text, "xycoords", "") == "data":
        place = text.convert_xunits(text.xy[0]), text.convert_yunits(text.xy[1])
        return np.asarray(text.axes.transData.transform(place))
    return np.asarray(text.get_transform().transform(text.get_unitless_position()))


def _move_of(
    text: Any, up: float, strokes: Sequence[Stroke], kept: Sequence[Bbox]
) -> tuple[float, float]:
    box, words = box_of(text).translated(0, up), _words(text).translated(0, up)
    around = box.padded(4 * FARTHEST)
    near = [stroke.within(around) for stroke in strokes]
    near = [stroke for stroke in near if len(stroke.points)]
    panel = text.axes.get_window_extent()
    best, least = (0.0, up), np.inf
    for x, y in MOVES:
        cost = float(np.hypot(x, y))
        if cost >= least:
            break
        to = box.translated(x, y)
        if any(to.overlaps(other) for other in kept) or (x and not _holds(panel, to)):
            continue
        at = words.translated(x, y)
        cost += ON_CURVE * _crosses(at, near, guides=False) + ON_GUIDE * _crosses(at, near)
        cost += ASTRAY * _is_astray(text, at, near)
        if cost < least:
            best, least = (x, up + y), cost
    return best


def _holds(panel: Bbox, box: Bbox) -> bool:
    return panel.contains(*box.min) and panel.contains(*box.max)


def _crosses(box: Bbox, strokes: Iterable[Stroke], *, guides: bool = True) -> bool:
    return any(each.distance(box) < 0 for each in strokes if guides or not each.is_guide)


def _is_astray(text: Any, box: Bbox, strokes: Iterable[Stroke]) -> bool:
    """Whether the curve of a label's colour in its panel is not the nearest one.

    A text that is placed in parts of its panel belongs to a key, and may stand anywhere.
    """
    data, own, others = text.axes.transData, np.inf, np.inf
    at_data = text.get_transform().contains_branch(data)
    if not (at_data if (where := getattr(text, "xycoords", None)) is None else where == "data"):
        return False
    for stroke in strokes:
        if stroke.panel is text.axes:
            distance = max(stroke.distance(box), 0)
            if _alike(text.get_color(), stroke.colour):
                own = min(own, distance)
            elif not stroke.is_guide:
                others = min(others, distance)
    return bool(others + GAP < own < np.inf)


def _alike(colour: Any, other: Any) -> bool:
    """Whether two colours are one, or the other is the shade in which predictions are drawn."""
    ours, theirs = np.array(to_rgb(colour)), np.array(to_rgb(other))
    return any(np.abs(share * ours - theirs).max() < 0.02 for share in (1, DARKER))


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
