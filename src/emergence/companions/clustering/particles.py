"""The particle simulation: embeddings alone, moved by the forces of `energy`, no network."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from ...progress import steps as counted
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
    conditions: Sequence[tuple[float, float]],
    seeds: Sequence[int],
    *,
    device: torch.device,
    dtype: torch.dtype = torch.float32,
    label: str = "particles",
) -> Float[Tensor, "conditions seeds n 2"]:
    """Where the particles end, normalised, for each (mix, width); all runs at once.

    Every condition starts from the same places. Raises ArithmeticError when a run diverges.
    """
    first = start(settings.residues, seeds).to(device, dtype)
    embeddings = first.repeat(len(conditions), 1, 1)
    mix, width = (
        torch.tensor(values, dtype=dtype, device=device).repeat_interleave(len(seeds))
        for values in zip(*conditions, strict=True)
    )
    adam = torch.optim.Adam([embeddings], lr=settings.learning_rate)
    for _ in counted(label, settings.steps):
        embeddings.grad = -forces(embeddings, mix, width)
        adam.step()
    if not torch.isfinite(embeddings).all():
        raise ArithmeticError(f"{label}: a place is not finite")
    return normalise(embeddings).unflatten(0, (len(conditions), len(seeds))).cpu()
