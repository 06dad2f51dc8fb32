"""Contexts with repeated pairs, and layers that attend within a window."""

import numpy as np

from emergence.models import Windows
from emergence.theory import Landscape
from emergence.theory.contexts import Order, landscape


def any_query(order: Order, windows: Windows = (None, None)) -> Landscape:
    """The mean loss when the query asks for any of the distinct pairs of a context (§7.2).

    `order` has the pair at each place, from 0, and `windows` how many positions back each layer
    sees; None for all.
    """
    each = [landscape(order, int(pair), windows) for pair in np.unique(order)]

    def loss(*state):
        return float(np.mean([one.loss(*state) for one in each]))

    def gradient(*state):
        return tuple(np.mean([one.gradient(*state) for one in each], axis=0).tolist())

    return Landscape(loss, gradient, len(order))
