"""Neural weight norm and Kolmogorov complexity: looped networks of ternary weights.

`model` defines and runs them, `wiring` builds them; `printers`, `tag`, `cell` and `permutations`
are upper bounds on weight, `codec` and `distances` lower ones; `small` enumerates, `prior` counts
copies, tries programs and trains; `precision` leaves the grid.
"""

from .settings import PRESET, Settings

__all__ = ["PRESET", "Settings"]
