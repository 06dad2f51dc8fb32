"""A loss for a flow to go down: its value and its gradient at a point."""

from collections.abc import Callable
from typing import NamedTuple


class Landscape(NamedTuple):
    """A loss with its gradient, as a flow goes down it (App. B.3, B.4).

    Attributes:
        loss: the loss at a point, one float a parameter: alpha_3, beta_2, gamma_3, or all 19 in
            the order of `subspace.NAMES`.
        gradient: its derivatives by these parameters.
        pairs: places N in the context; all emerges within a few times its square.
        groups: how many of the parameters belong to layer 1, layer 2 and the output.
        head: places of alpha_3, beta_2 and gamma_3 in a point.
    """

    loss: Callable[..., float]
    gradient: Callable[..., tuple[float, ...]]
    pairs: int
    groups: tuple[int, int, int] = (1, 1, 1)
    head: tuple[int, int, int] = (0, 1, 2)
