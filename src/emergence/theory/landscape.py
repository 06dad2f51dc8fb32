"""What a flow needs to know of a loss: its value and its gradient at a point, as floats."""

from collections.abc import Callable
from typing import NamedTuple


class Landscape(NamedTuple):
    """A loss of alpha, beta, gamma, each function from three floats."""

    loss: Callable[[float, float, float], float]
    gradient: Callable[[float, float, float], tuple[float, float, float]]
    pairs: int  # places in the context; all emerges within a few times its square
