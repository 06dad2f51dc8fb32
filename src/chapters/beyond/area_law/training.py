"""Training of all weights with a curriculum: the first pair is asked for ahead of the others."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from emergence import tasks
from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.memo import resumable
from emergence.training import Full, MinimalTraining, minimal_step


@dataclass(frozen=True)
class Curriculum:
    """Gradient descent of all 28 D^2 weights on Gaussian data, as in §4 except for the queries."""

    n_pairs: int
    dim: int
    batch_size: int
    ahead: int  # steps at which the query asks for the first pair; for any pair afterwards
    steps: int  # in all


@resumable
def train_curriculum(
    settings: Curriculum, seeds: Sequence[int], *, device: torch.device, label: str = "training"
) -> Float[np.ndarray, "seeds steps"]:
    """Batch losses before each step, one run per seed; NaN while queries ask for the first pair."""
    streams = [generator(seed, device) for seed in seeds]
    n, dim = settings.n_pairs, settings.dim
    network = Full(MinimalTraining(n, dim, settings.batch_size, settings.steps), "fast")
    weights = network.start(streams, torch.float32)
    sizes = settings.batch_size, n, dim
    rows: list[tuple[int, Tensor]] = []  # step, loss

    def step(recorded: bool, ahead: bool) -> tuple[Tensor, tuple[Tensor]]:
        inputs, target, _ = tasks.gaussian_pairs(*sizes, generator=streams, dtype=torch.float32)
        if ahead:
            inputs[..., -1, :dim] = inputs[..., 0, :dim]
            target = inputs[..., 1, :dim].clone()
        loss, gradient = minimal_step(network, weights, inputs, target)
        network.descend(weights, gradient)
        return loss, (torch.full_like(loss, torch.nan) if ahead else loss,)

    loop.descend(
        settings.steps,
        label,
        step,
        rows=rows,
        phase=lambda at: at < settings.ahead,
        weights=tuple(weights),
        streams=tuple(streams),
    )
    return torch.stack([loss.to(device) for _, loss in rows], dim=1).cpu().numpy()
