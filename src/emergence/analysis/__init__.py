"""Measures of what training left behind: curves, weights, the circuit, key-query products."""

from .agreement import Agreement, agreement, as_table, gap
from .attended import Attended, attended
from .circuit import Circuit, circuit
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
from .products import Products, logits, products
from .recall import recall
from .weights import blocks, contrast, diagonal_share, head_lead, norms

__all__ = [
    "HEAD_BANDS",
    "Agreement",
    "Attended",
    "Band",
    "Circuit",
    "Dominance",
    "Exponent",
    "PowerLaw",
    "Products",
    "agreement",
    "as_table",
    "attended",
    "blocks",
    "circuit",
    "contrast",
    "diagonal_share",
    "dominance",
    "exponent",
    "first_fallen",
    "first_reached",
    "gap",
    "head_lead",
    "in_order",
    "logits",
    "norms",
    "power_law",
    "products",
    "reached",
    "recall",
    "settled",
]
