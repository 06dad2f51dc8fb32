"""How the texts of a drawing are made legible, and give way to one another."""

import re
import textwrap
from typing import Any

from matplotlib.text import Text

from .placing import back, box_of, shown, spread

SMALLEST = 8.8  # points: 11.7 pixels of a wide drawing, and 9.9 of a narrow one at 341 pixels
NUMBER = re.compile(r"(?:[-−+\d.,^{}$%\s]|\\mathdefault|\\times)*")
FORMULA = re.compile(r"\$[^$]*\$")


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
