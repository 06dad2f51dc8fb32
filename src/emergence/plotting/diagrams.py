"""Boxes and arrows, of which pages draw circuits."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

INK = "#333333"
ITEM, LABEL = "#DCE9F5", "#F9E3D2"


def box(ax: Axes, x: float, y: float, text: str, fill: str, width: float = 0.8) -> Axes:
    """Draw a rounded box with a text, of a circuit as in Figure 1.

    Args:
        ax: where to draw.
        x, y: its centre, in data units as all lengths; it is 0.62 high.
        text: what it holds.
        fill: its colour, such as `ITEM` or `LABEL`.
        width: of the box.
    """
    style: dict[str, Any] = {"boxstyle": "round,pad=0,rounding_size=0.12", "lw": 0.9}
    ax.add_patch(FancyBboxPatch((x - width / 2, y - 0.31), width, 0.62, fc=fill, ec=INK, **style))
    ax.text(x, y, text, ha="center", va="center", fontsize=9, color=INK)
    return ax


def arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], **style: Any) -> Axes:
    """Draw an arrow between two points of a circuit as in Figure 1.

    Args:
        ax: where to draw.
        start, end: the two points; the head is at the end.
        style: of the patch; grey and thin unless it says otherwise.
    """
    look: dict[str, Any] = {"color": "#888888", "lw": 1.0, "shrinkA": 2, "shrinkB": 2} | style
    ax.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=11, **look))
    return ax
