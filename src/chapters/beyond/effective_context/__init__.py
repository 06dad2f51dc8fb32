"""Contexts with repeated pairs, and layers that attend within a window."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from emergence.models import Windows
from emergence.presets import preset
from emergence.theory import Landscape
from emergence.theory.contexts import Order, landscape
from emergence.training import MinimalTraining


@dataclass(frozen=True)
class EffectiveContext:
    """Beyond the paper: pairs in copies, and layers that see a window."""

    distinct: tuple[int, ...] = (16, 32, 64, 128, 256)
    copies: tuple[int, ...] = (1, 2, 4, 8)
    window_pairs: int = 1024
    windows: tuple[int, ...] = (16, 32, 64, 128, 256, 512, 1024)
    n_pairs: int = 16
    dim: int = 16
    batch_size: int = 256
    limit: int = 400
    trained_windows: tuple[int, ...] = (2, 4, 8, 16)

    def training(self, **changes: Any) -> MinimalTraining:
        """The full model on Gaussian data, with these changes, ended soon after the head."""
        middle = MinimalTraining(
            self.n_pairs, self.dim, self.batch_size, self.limit, until_loss=0.35
        )
        return replace(middle, **changes)


PRESET = preset(
    paper=EffectiveContext(),
    smoke=EffectiveContext(
        distinct=(4, 8, 16),
        copies=(1, 2),
        window_pairs=32,
        windows=(8, 16, 32),
        n_pairs=4,
        dim=8,
        batch_size=64,
        limit=100,
        trained_windows=(2, 4),
    ),
)


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
