"""The preview picture that other sites show with a link to the book."""

import textwrap
from collections.abc import Sequence
from pathlib import Path

from bookbuild.ledger.claims import Finding, count
from bookbuild.ledger.counts import KINDS

NAME = "card.png"
WIDTH, HEIGHT = 1200, 630  # pixels, as OpenGraph has pictures
PAPER, INK, FAINT = "#fbfaf7", "#1d2433", "#5b6478"


def write_card(path: Path, title: str, findings: Sequence[Finding]) -> None:
    """Write the card: the title of the book, and its verdicts in numbers."""
    from matplotlib import style
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # a second of every command
    from matplotlib.figure import Figure

    lines = [
        f"{KINDS[kind]}: " + ", ".join(f"{n} {verdict}" for verdict, n in verdicts.items() if n)
        for kind, verdicts in count(findings).items()
    ]
    told, below = textwrap.fill(title, 30), "\n".join(lines)
    with style.context("default"):
        figure = Figure(figsize=(WIDTH / 100, HEIGHT / 100), dpi=100, facecolor=PAPER)
        FigureCanvasAgg(figure)
        figure.text(0.07, 0.86, told, fontsize=40, color=INK, va="top", weight="bold")
        figure.text(0.07, 0.1, below, fontsize=17, color=FAINT, va="bottom", linespacing=1.6)
        figure.savefig(path)
