"""Contexts whose query asks for any of their pairs."""

import numpy as np

from emergence.models import Windows
from emergence.theory import Landscape
from emergence.theory.contexts import Order, landscape


def any_query(order: Order, windows: Windows = (None, None)) -> Landscape:
    """The mean loss when the query asks for any of the distinct pairs of a context (§7.2).

    Args:
        order: the pair at each of the N places, counted from 0.
        windows: how many positions back a row of layer 1 and 2 sees, >= 1 each; None for all.

    Returns:
        The loss of alpha_3, beta_2 and gamma_3 and its gradient.

    Raises:
        ValueError: for an empty window.

    Example:
        >>> mean, state = any_query(np.arange(4)), (0.3, 0.7, 0.5)
        >>> abs(mean.loss(*state) - theory.landscape_of(4, "uniform").loss(*state)) < 1e-12
        True
    """
    each = [landscape(order, int(pair), windows) for pair in np.unique(order)]

    def loss(*state):
        return float(np.mean([one.loss(*state) for one in each]))

    def gradient(*state):
        return tuple(np.mean([one.gradient(*state) for one in each], axis=0).tolist())

    return Landscape(loss, gradient, len(order))
