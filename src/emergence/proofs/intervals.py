"""Interval arithmetic: balls of Arb, through python-flint."""

from flint import arb


def ball(low: float, high: float) -> arb:
    """The smallest ball around an interval."""
    return arb(low).union(arb(high))
