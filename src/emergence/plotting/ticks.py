"""Axes of figures that span a decade or two."""

from matplotlib.axis import Axis
from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter


def plain_ticks(*axes: Axis) -> None:
    """Ticks at 1, 2 and 5 of each decade, as plain numbers."""
    for axis in axes:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(ScalarFormatter())
        axis.set_minor_locator(NullLocator())
