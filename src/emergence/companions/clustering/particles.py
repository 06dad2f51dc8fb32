"""The particle simulation: embeddings alone, moved by the forces of `energy`, no network."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from emergence.running.progress import steps as counted

from .energy import forces
from .markers import normalise


@dataclass(frozen=True)
class Simulation:
    """Descent of U by Adam from random places; rate and steps are ours, N the source's demo's."""

    residues: int = 17
    steps: int = 1500
    learning_rate: float = 0.02


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
    for _ in counted(label, settings.steps):
        embeddings.grad = -forces(embeddings, mix, width, core)
        adam.step()
    if not torch.isfinite(embeddings).all():
        raise ArithmeticError(f"{label}: a place is not finite")
    return normalise(embeddings).cpu()
