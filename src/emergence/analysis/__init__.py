"""Measures of what training left behind: curves, weights, the circuit, key-query products."""

from .agreement import Agreement, agreement, as_table, gap
from .attended import Attended, attended
from .circuit import Circuit, circuit
from .conserved import Balance, balances, drifts
from .curves import (
    Exponent,
    PowerLaw,
    exponent,
    first_fallen,
    first_reached,
    in_order,
    power_law,
    settled,
)
from .dominance import HEAD_BANDS, Band, Dominance, dominance, reached
from .held_out import Prediction, Slopes, held_out, is_a_power, local_slopes, resampled
from .noise import Amplified, amplified, interval, squared_mean
from .products import Products, logits, products
from .recall import recall
from .structure import FORBIDDEN, Structure, plant, presence, structure
from .weights import blocks, diagonal_share, head_lead, norms

__all__ = [
    "FORBIDDEN",
    "HEAD_BANDS",
    "Agreement",
    "Amplified",
    "Attended",
    "Balance",
    "Band",
    "Circuit",
    "Dominance",
    "Exponent",
    "PowerLaw",
    "Prediction",
    "Products",
    "Slopes",
    "Structure",
    "agreement",
    "amplified",
    "as_table",
    "attended",
    "balances",
    "blocks",
    "circuit",
    "diagonal_share",
    "dominance",
    "drifts",
    "exponent",
    "first_fallen",
    "first_reached",
    "gap",
    "head_lead",
    "held_out",
    "in_order",
    "interval",
    "is_a_power",
    "local_slopes",
    "logits",
    "norms",
    "plant",
    "power_law",
    "presence",
    "products",
    "reached",
    "recall",
    "resampled",
    "settled",
    "squared_mean",
    "structure",
]
