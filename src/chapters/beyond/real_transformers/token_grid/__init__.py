"""A grid of trainings of the transformer of §2, stored in data/token_grid.json."""

from .cells import SHARES, Arm, Cell, described, run
from .grid import ADAMW, FIXED, GRID, MIDDLE, MIDDLE_SGD, PER_PAIR, SGD, SLOWER, WIDE
from .laws import shapes
from .store import COMMAND, read
from .table import Waits, not_run, waits

__all__ = [
    "ADAMW",
    "COMMAND",
    "FIXED",
    "GRID",
    "MIDDLE",
    "MIDDLE_SGD",
    "PER_PAIR",
    "SGD",
    "SHARES",
    "SLOWER",
    "WIDE",
    "Arm",
    "Cell",
    "Waits",
    "described",
    "not_run",
    "read",
    "run",
    "shapes",
    "waits",
]
