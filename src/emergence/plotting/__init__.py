"""Figures from arrays. Importing this package sets the book's Matplotlib style."""

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
