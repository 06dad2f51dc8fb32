"""Figures of walks."""

from collections.abc import Sequence
from typing import Any


def plot_growth(ax: Any, sizes: Sequence[int], distances: Sequence[float]) -> Any:
    """Draw the squared distance against the number of steps, both on logarithmic axes."""
    ax.loglog(sizes, distances, "o-")
    ax.set(xlabel="steps", ylabel="mean squared distance")
    return ax
