"""Measures of what training left behind: curves, weights, the circuit, key-query products."""

from .agreement import Agreement, agreement, as_table, gap
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
from .structure import FORBIDDEN, Structure, plant, presence, structure
from .weights import blocks, diagonal_share, head_lead, norms

__all__ = [
    "FORBIDDEN",
    "Agreement",
    "Circuit",
    "Exponent",
    "PowerLaw",
    "Structure",
    "agreement",
    "as_table",
    "blocks",
    "circuit",
    "diagonal_share",
    "exponent",
    "first_fallen",
    "first_reached",
    "gap",
    "head_lead",
    "in_order",
    "norms",
    "plant",
    "power_law",
    "presence",
    "settled",
    "structure",
]
