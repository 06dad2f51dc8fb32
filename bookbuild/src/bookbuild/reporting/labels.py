"""How the texts of a drawing are made legible, and give way to one another."""

import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

SMALLEST = 8.8  # points: 11.7 pixels of a wide drawing, and 9.9 of a narrow one at 341 pixels
GAP = 2.0  # pixels of a drawing between two texts
FARTHEST = 80  # pixels that a text moves to be free
NUMBER = re.compile(r"(?:[-−+\d.,^{}$%\s]|\\mathdefault|\\times)*")
FORMULA = re.compile(r"\$[^$]*\$")


def settle(figure: Any) -> None:
    """Enlarge small texts, break long ones, let those that overlap give way, back the crossed."""
    changed = True
    for step in (_enlarge, _break_lines, _thin_ticks, _spread, _back):
        if changed:
            figure.draw_without_rendering()  # now texts know their places
        changed = step(figure)


def _enlarge(figure: Any) -> bool:
    """Enlarge small texts; return whether there were any, as all these steps do."""
    from matplotlib.text import Text

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
    from matplotlib.text import Text

    texts = [text for ax in figure.axes for text in _shown(ax.texts)]
    for text in texts:
        clipped = text.get_clip_on() and (text.get_clip_box() or text.get_clip_path())
        panel, box = text.axes.get_window_extent(), _box(text)
        if clipped and not (panel.contains(*box.min) and panel.contains(*box.max)):
            text.set_visible(False)
    free, movable = list(_shown(texts)), set(map(id, texts))
    kept = [_box(text) for text in _shown(figure.findobj(Text)) if id(text) not in movable]
    moves = []
    for text in free:
        box = _box(text)
        places = sorted(range(-FARTHEST, FARTHEST + 1), key=abs)
        fitting = (up for up in places if _is_free(box.translated(0, up), kept))
        up = next(fitting, 0)  # where it is, if nowhere is room
        if up:
            _move(text, up)
        moves.append(up)
        kept.append(box.translated(0, up))
    return any(moves) or len(free) < len(texts)


def _back(figure: Any) -> bool:
    """Put a pale ground behind each text within a panel that a curve crosses.

    The ground is white, which the dark scheme turns round like all else.
    """
    from matplotlib.text import Text

    curves = [
        line.get_transform().transform_path(line.get_path())
        for ax in figure.axes
        for line in ax.lines
        if line.get_visible() and line.get_linestyle() != "None"
    ]
    backed = False
    for text in (text for ax in figure.axes for text in _shown(ax.texts)):
        box = Text.get_window_extent(text)  # without the arrow of an annotation
        crossed = any(curve.intersects_bbox(box, filled=False) for curve in curves)
        if crossed and text.get_bbox_patch() is None:
            text.set_bbox({"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5})
            backed = True
    return backed


def _move(text: Any, up: float) -> None:
    """Move a text by so many pixels, in whatever coordinates it has its place."""
    to = text.get_transform()
    x, y = to.transform(text.get_unitless_position())
    text.set_position(to.inverted().transform((x, y + up)))


def _is_free(box: Any, kept: Iterable[Any]) -> bool:
    return not any(box.overlaps(other) for other in kept)


def _box(text: Any) -> Any:
    """The room of a text and of half the gap around it, in pixels of the drawing."""
    return text.get_window_extent().padded(GAP / 2)


def _shown(texts: Iterable[Any]) -> Iterator[Any]:
    return (text for text in texts if text.get_visible() and text.get_text().strip())
