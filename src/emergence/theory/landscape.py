"""A loss of alpha, beta, gamma for a flow to go down: its value and its gradient at a point."""

from collections.abc import Callable
from typing import NamedTuple


class Landscape(NamedTuple):
    """A loss of alpha, beta, gamma with its gradient, as a flow goes down it (App. B.3, B.4).

    Attributes:
        loss: the loss at three floats.
        gradient: its derivatives by alpha, beta, gamma at three floats.
        pairs: places N in the context; all emerges within a few times its square.
    """

    loss: Callable[[float, float, float], float]
    gradient: Callable[[float, float, float], tuple[float, float, float]]
    pairs: int
