"""The full model's flow held in a box until alpha_3 emerges, for every N from some N0 on."""

from .slow import close

__all__ = ["close"]
