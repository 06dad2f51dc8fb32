"""One law for the emergence of alpha and beta, an area under gamma (chapter One area law)."""

from ._bounds import Bounds, error_bounds
from ._context import asked
from ._law import AreaTimes, area_times, climb, clock, swept

__all__ = [
    "AreaTimes",
    "Bounds",
    "area_times",
    "asked",
    "climb",
    "clock",
    "error_bounds",
    "swept",
]
