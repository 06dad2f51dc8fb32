"""A grid of trainings of the transformer of §2, stored in data/token_grid.json."""

from .cells import (
    ADAMW,
    FIXED,
    GRID,
    MIDDLE,
    MIDDLE_SGD,
    PER_PAIR,
    SGD,
    SHARES,
    SLOWER,
    WIDE,
    Arm,
    Cell,
    described,
    run,
)
from .store import COMMAND, Waits, not_run, read, shapes, waits

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
