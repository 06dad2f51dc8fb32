"""Figures 6 to 14: weights at three moments of training, for 4, 8 and 16 pairs."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from emergence import tasks
from emergence.experiments.captions import SMALL_WEIGHTS, weights
from emergence.fast import disentangled_output
from emergence.models import Weights
from emergence.presets import preset
from emergence.subspace import PseudoParameters, embed
from emergence.training import MinimalTraining
from running.memo import kept

#: Contents of four kinds: do their directions overlap, and are their lengths unequal?
CONTENTS = {
    "Gaussian": (True, True),
    "equal lengths": (True, False),
    "orthogonal": (False, True),
    "orthogonal, equal lengths": (False, False),
}


@dataclass(frozen=True)
class WeightsDuringTraining:
    """One training a number of pairs, with the moments that the captions give."""

    four: MinimalTraining  # Figures 6 to 8
    eight: MinimalTraining  # Figures 9 to 11
    sixteen: MinimalTraining  # Figures 12 to 14
    turns: int = 3999  # of the null of `analysis.structure`
    chance: float = 0.05  # of one false alarm in all figures and settings
    sequences: int = 4096  # of one gradient
    gradients: int = 10  # their mean stands for the population


PRESET = preset(
    paper=WeightsDuringTraining(
        weights(4, 100, 200, 400), weights(8, 200, 400, 800), weights(16, 250, 500, 1000)
    ),
    smoke=WeightsDuringTraining(
        SMALL_WEIGHTS,
        SMALL_WEIGHTS,
        SMALL_WEIGHTS,
        turns=800,
        chance=0.2,
        sequences=64,
        gradients=2,
    ),
)


def contents(
    kind: str, settings: MinimalTraining, size: int, *, generator: torch.Generator
) -> tasks.Batch:
    """Sequences whose positions are Gaussian and whose contents are of one of the `CONTENTS`.

    Directions are those of Gaussian or of orthogonal vectors, lengths those of Gaussian vectors or
    all sqrt(D). Orthogonal contents need D >= 2N.
    """
    overlap, unequal = CONTENTS[kind]
    dim, pairs = settings.dim, settings.n_pairs
    dtype = torch.float32
    batch = tasks.gaussian_pairs(size, pairs, dim, generator=generator, dtype=dtype)
    rows = batch.inputs[:, :-1, :dim].clone()
    lengths = rows.norm(dim=-1, keepdim=True) if unequal else dim**0.5
    if not overlap:
        units = tasks.orthonormal_pairs(size, pairs, dim, generator=generator, dtype=dtype)
        rows = units.inputs[:, :-1, :dim]
    rows = rows / rows.norm(dim=-1, keepdim=True) * lengths
    every, item = torch.arange(size, device=generator.device), 2 * batch.query
    inputs = batch.inputs.clone()
    inputs[:, :-1, :dim], inputs[:, -1, :dim] = rows, rows[every, item]
    return tasks.Batch(inputs, rows[every, item + 1], batch.query)


@kept
def pushes(
    kind: str,
    settings: MinimalTraining,
    pseudo: Float[Tensor, "19"],
    size: int,
    batches: int,
    *,
    generator: torch.Generator,
) -> Float[Tensor, "batches 19"]:
    """Minus the gradient of the mean loss over dimensions by the 19, on batches of contents."""
    free = pseudo.detach().clone().to(generator.device, torch.float32).requires_grad_()

    def push() -> Tensor:
        batch = contents(kind, settings, size, generator=generator)
        network = Weights(*embed(PseudoParameters.unstack(free), settings.dim))
        loss = (disentangled_output(network, batch.inputs) - batch.target).square().mean()
        return -torch.autograd.grad(loss, free)[0].cpu()

    return torch.stack([push() for _ in range(batches)])
