"""Interval arithmetic: balls of Arb, through python-flint."""

from flint import arb


def ball(low: float, high: float) -> arb:
    """The smallest ball around an interval (App. B.6-B.8, chapter Exact constants).

    Args:
        low: lower end.
        high: upper end, >= `low`.

    Returns:
        A ball of Arb that contains both ends and everything between them.

    Example:
        >>> intervals.ball(0.0, 1.0).contains(0.5)
        True
    """
    return arb(low).union(arb(high))
