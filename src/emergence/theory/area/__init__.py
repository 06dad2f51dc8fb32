"""One law for the emergence of alpha and beta, an area under gamma (chapter One area law)."""

from .bounds import Bounds, error_bounds
from .context import asked
from .law import AreaTimes, area_times, climb, clock, swept

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
