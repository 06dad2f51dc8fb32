"""Measures of what training left behind: curves, weights, the circuit, key-query products."""

from ._attention_patterns import Circuit, attentions, circuit, head_weights
from ._curves import (
    Exponent,
    PowerLaw,
    exponent,
    first_fallen,
    first_reached,
    in_order,
    power_law,
    settled,
)
from ._prediction_error import Agreement, agreement
from ._rotation_test import FORBIDDEN, Structure, plant, presence, structure
from ._weights import blocks, head_lead, norms

__all__ = [
    "FORBIDDEN",
    "Agreement",
    "Circuit",
    "Exponent",
    "PowerLaw",
    "Structure",
    "agreement",
    "attentions",
    "blocks",
    "circuit",
    "exponent",
    "first_fallen",
    "first_reached",
    "head_lead",
    "head_weights",
    "in_order",
    "norms",
    "plant",
    "power_law",
    "presence",
    "settled",
    "structure",
]
