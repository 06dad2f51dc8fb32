"""Figures from arrays. Importing this package sets the book's Matplotlib style."""

from pathlib import Path

import matplotlib.pyplot as plt

from ._panels import dynamics, training, weight_maps
from ._style import (
    COLOURS,
    colour,
    heat_map,
    plain_ticks,
    power_law,
    predicted_curve,
    seed_band,
    symbol,
)

__all__ = [
    "COLOURS",
    "colour",
    "dynamics",
    "heat_map",
    "plain_ticks",
    "power_law",
    "predicted_curve",
    "seed_band",
    "symbol",
    "training",
    "weight_maps",
]

plt.style.use(Path(__file__).with_name("book.mplstyle"))
