"""Measures of trained networks: curves, weights, the circuit, key-query products."""

from ._attention_patterns import Circuit, attentions, circuit, head_weights
from ._curves import Exponent, exponent, first_fallen, first_reached, in_order, settled
from ._pseudo_parameters import Agreement, agreement, head_lead, presence
from ._rotation_test import FORBIDDEN, Structure, plant, structure
