"""Neural weight norm and Kolmogorov complexity: looped networks of ternary weights.

`model` defines and runs them, `wiring` builds them; `printers`, `cell` and `permutations` are
upper bounds on weight, `codec` the lower one; `small` enumerates, `precision` leaves the grid.
"""

from .settings import PRESET, Settings

__all__ = ["PRESET", "Settings"]
