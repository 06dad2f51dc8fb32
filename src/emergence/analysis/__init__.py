"""Measures of what training left behind: curves, weights, the circuit, key-query products."""

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
from .products import Products, logits, products
from .recall import recall
from .weights import blocks, contrast, diagonal_share, head_lead, norms

__all__ = [
    "Circuit",
    "Exponent",
    "PowerLaw",
    "Products",
    "blocks",
    "circuit",
    "contrast",
    "diagonal_share",
    "exponent",
    "first_fallen",
    "first_reached",
    "head_lead",
    "in_order",
    "logits",
    "norms",
    "power_law",
    "products",
    "recall",
    "settled",
]
