"""Diagrams: Figure 1, the induction head as three memories, the circuit's attention."""

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from emergence.analysis import Circuit

from ._style import COLOURS, symbol

INK = "#333333"
ITEM, LABEL = "#DCE9F5", "#F9E3D2"


def induction_head() -> Figure:
    """Both panels of Figure 1: the task and the architecture (§1, §3)."""
    figure, (task, architecture) = plt.subplots(
        1, 2, figsize=(10.2, 4.3), width_ratios=(1.9, 1), layout="constrained"
    )
    _draw_task(task)
    _draw_architecture(architecture)
    return figure


def three_memories() -> Figure:
    """The head of bigrams, and which memory does which step (chapter Birth; Bietti et al. 2023)."""
    figure, ax = plt.subplots(figsize=(7.6, 4.0), layout="constrained")
    names = [r"$\cdots$", "$q$", "$o$", r"$\cdots$", "$q$"]
    first, output, query = 1.5, 3.0, 6.0
    for x, name in zip((0, first, output, 4.5, query), names, strict=True):
        _box(ax, x, 0, name, fill=LABEL if name == "$o$" else ITEM)
    _arrow(ax, (output, 0.31), (output, 1.69))
    _arrow(ax, (query, 0.31), (query, 3.69))
    _arrow(ax, (first, 0.31), (output - 0.2, 1.69), color=COLOURS["alpha"], lw=2.0)
    _box(ax, output, 2, "$e_o\\;+\\;W_{OV}^1e_q$", fill=LABEL, width=2.5)
    _arrow(ax, (output + 0.3, 2.31), (query - 0.3, 3.69), color=COLOURS["beta"], lw=2.0)
    _box(ax, query, 4, "$e_q\\;+\\;W_{OV}^2e_o$", fill=ITEM, width=2.5)
    _arrow(ax, (query, 4.31), (query, 5.19), color=COLOURS["gamma"], lw=2.0)
    _box(ax, query, 5.5, "$o$", fill=LABEL)
    for x, y, greek, text in (
        (1.9, 1.15, "alpha", "$W_{KQ}^1$"),
        (4.2, 3.25, "beta", "$W_{KQ}^2$"),
        (6.2, 4.75, "gamma", "$W_{OV}^2$"),
    ):
        side = "left" if greek == "gamma" else "right"
        ax.text(x, y, text, color=COLOURS[greek], fontsize=13, ha=side, va="center")
    for y, text in (
        (1.0, "layer 1:\na position\nattends to the\none before"),
        (3.0, "layer 2:\na trigger\nattends where\nlayer 1 wrote it"),
        (4.9, "output:\nsay what is found"),
    ):
        ax.text(-0.7, y, text, fontsize=9, color="#666666", va="center", ha="right")
    ax.set(xlim=(-3.6, 7.6), ylim=(-0.5, 6.0))
    ax.axis("off")
    return figure


def attention_maps(circuit: Circuit, tokens: str) -> Figure:
    """The attention of both layers; each row attends to the columns (§5).

    Args:
        circuit: as from `analysis.circuit`.
        tokens: one character per position, written beside rows and columns.
    """
    figure, axes = plt.subplots(1, 2, figsize=(7.6, 3.7))
    for ax, weights, name, title in zip(
        axes, circuit[:2], ("alpha", "beta"), ("layer 1", "layer 2"), strict=True
    ):
        shades = LinearSegmentedColormap.from_list(name, ["#ffffff", COLOURS[name]])
        ax.imshow(weights, cmap=shades, vmin=0, vmax=1)
        ax.grid(False)
        ax.set_title(title)
        ax.set_xticks(range(len(tokens)), tokens)
        ax.set_yticks(range(len(tokens)), tokens)
        ax.tick_params(length=0)
    return figure


def _box(ax: Axes, x: float, y: float, text: str, *, fill: str, width: float = 0.8) -> None:
    """A rounded box of height 0.62 centred at (x, y)."""
    shape = FancyBboxPatch(
        (x - width / 2, y - 0.31), width, 0.62,
        boxstyle="round,pad=0,rounding_size=0.12", fc=fill, ec=INK, lw=0.9,
    )  # fmt: skip
    ax.add_patch(shape)
    ax.text(x, y, text, ha="center", va="center", fontsize=9, color=INK)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], **style: Any) -> None:
    line: dict[str, Any] = {"color": "#888888", "lw": 1.0, "shrinkA": 2, "shrinkB": 2} | style
    arrow = FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=11, **line)
    ax.add_patch(arrow)


def _draw_task(ax: Axes) -> None:
    """The context at the bottom, what each label holds after layer 1, the answer on top."""
    tokens = ["$a_1$", "$b_1$", "$a_2$", "$b_2$", "$a_3$", "$b_3$", "$a_2$"]
    query, target = 6, 3
    for x, token in enumerate(tokens):
        _box(ax, x, 0, token, fill=LABEL if token.startswith("$b") else ITEM)
        if x != query:
            _arrow(ax, (x, 0.31), (x, 1.69))
    for x in (1, 3, 5):
        alpha = {"color": COLOURS["alpha"], "lw": 1.0 + 1.0 * (x == target)}
        _arrow(ax, (x - 1, 0.31), (x - 0.1, 1.69), **alpha)
        _box(ax, x, 2, f"{tokens[x]} | {tokens[x - 1]}", fill=LABEL, width=1.25)
    for x in (0, 2, 4):
        _box(ax, x, 2, tokens[x], fill=ITEM, width=0.6)
    _arrow(ax, (query, 0.31), (query, 1.69))
    _box(ax, query, 2, tokens[query], fill=ITEM, width=0.6)
    _arrow(ax, (target + 0.2, 2.31), (query - 0.12, 3.69), color=COLOURS["beta"], lw=2.0)
    _arrow(ax, (query, 2.31), (query, 3.69))
    _box(ax, query, 4, f"{tokens[query]} | {tokens[target]}", fill=ITEM, width=1.25)
    _arrow(ax, (query, 4.31), (query, 5.19), color=COLOURS["gamma"], lw=2.0)
    _box(ax, query, 5.5, tokens[target], fill=LABEL)

    ax.text(2.54, 0.5, symbol("alpha_3"), color=COLOURS["alpha"], fontsize=13)
    ax.text(4.4, 3.12, symbol("beta_2"), color=COLOURS["beta"], fontsize=13, ha="right")
    ax.text(6.15, 4.62, symbol("gamma_3"), color=COLOURS["gamma"], fontsize=13)
    ax.text(query, -0.62, "query", ha="center", fontsize=9, color=INK)
    ax.text(query - 0.6, 5.5, "answer", ha="right", va="center", fontsize=9, color=INK)
    for y, text in (
        (1.0, "layer 1:\neach label\nretrieves\nits item"),
        (3.0, "layer 2:\nthe query finds\nthe label that\nhas retrieved\nthe same item"),
        (4.9, "output:\nsay that label"),
    ):
        ax.text(-0.55, y, text, fontsize=9, color="#666666", va="center", ha="right")
    ax.set(xlim=(-2.9, 6.9), ylim=(-0.9, 6.0))
    ax.axis("off")


def _draw_architecture(ax: Axes) -> None:
    """From X at the bottom to the output on top; concatenation instead of addition."""
    rows = [(0, "$X$"), (2, "$H_1$"), (4, "$H_2$")]
    for y, name in rows:
        _box(ax, 0, y, name, fill=ITEM, width=1.0)
    for y, weight in ((1, "$W^{(1)}$"), (3, "$W^{(2)}$")):
        _box(ax, 1.75, y, f"attention {weight}", fill="none", width=2.8)
        _arrow(ax, (0.35, y - 0.69), (1.2, y - 0.33))
        _arrow(ax, (1.2, y + 0.33), (0.35, y + 0.69))
        _arrow(ax, (0, y - 0.69), (0, y + 0.69))
        ax.text(-0.12, y, "concatenate", fontsize=9, color="#666666", ha="right", va="center")
    _arrow(ax, (0, 4.31), (0, 4.99))
    ax.text(0.15, 4.65, "$W^{(3)}$", fontsize=10, color=INK, va="center")
    _box(ax, 0, 5.3, r"$\tilde{Y}$", fill=LABEL, width=1.0)
    ax.set(xlim=(-2.1, 3.2), ylim=(-0.9, 6.0))
    ax.axis("off")
