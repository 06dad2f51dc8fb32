"""One law for the emergence of alpha and beta, an area under gamma (chapter One area law)."""

from ._context import expected_loss
from ._law import TOLERANCES, AreaTimes, area_times, climb, clock, swept

__all__ = ["TOLERANCES", "AreaTimes", "area_times", "climb", "clock", "expected_loss", "swept"]
