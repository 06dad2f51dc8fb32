"""Slopes of a line."""

from emergence.running.memo import kept


@kept
def slopes(points: list[float]) -> list[float]:
    """Return one slope a point."""
    return [2.0 * point / point for point in points]
