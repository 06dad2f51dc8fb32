"""The particle simulation: embeddings alone, moved by the forces of `energy`, no network."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from running import loop
from running.cache import Task

from . import Simulation
from .energy import forces
from .markers import normalise


def start(n: int, seeds: Sequence[int]) -> Float[Tensor, "seeds n 2"]:
    """Standard normal places, drawn for each seed from a generator of its own."""
    streams = (torch.Generator().manual_seed(seed) for seed in seeds)
    return torch.stack([torch.randn(n, 2, generator=stream) for stream in streams])


def simulate(
    settings: Simulation,
    seeds: Sequence[int],
    *,
    mix: float,
    width: float,
    core: float,
    device: torch.device,
    dtype: torch.dtype = torch.float32,
    label: str = "particles",
) -> Float[Tensor, "seeds n 2"]:
    """Where the particles of each seed end, normalised, all at once.

    Raises ArithmeticError when a run diverges.
    """
    embeddings = start(settings.residues, seeds).to(device, dtype)
    adam = torch.optim.Adam([embeddings], lr=settings.learning_rate)
    task = Task.of(
        simulate, settings=settings, seeds=seeds, mix=mix, width=width, core=core, dtype=str(dtype)
    )
    for step in loop.steps(task, settings.steps, label, embeddings=embeddings, optimiser=adam):
        force = forces(embeddings, mix, width, core)
        loop.check_finite(force, label, step)  # as U is, whose gradient it is
        embeddings.grad = -force
        adam.step()
    loop.check_finite(embeddings, label, settings.steps)
    return normalise(embeddings).cpu()
