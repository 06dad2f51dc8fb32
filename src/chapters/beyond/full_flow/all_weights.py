"""All 28 D^2 weights on rotated orthonormal frames, averaged exactly over a group of rotations.

Items and labels are rotated by E and positions by F, which commutes with M. For D a power of two,
2 D^2 pairs (E, F) of signed permutations average like all rotations (theorem "All weights").
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from emergence import models, tasks, theory
from emergence.models import Mask, Weights
from emergence.subspace import HEAD, PseudoParameters, embed
from emergence.tasks import Query
from emergence.theory.positions import weighting

Supervision = Literal["last", "every"]
Part = Literal["items", "positions", "swap", "sign"]
Optimiser = Literal["descent", "adam"]
ADAM, EPSILON = (0.9, 0.999), 1e-8  # Adam's usual constants
Rotations = tuple[Float[Tensor, "frames dim dim"], Float[Tensor, "frames dim dim"]]


@dataclass(frozen=True)
class Descent:
    """Descent of all weights from zero on the mean loss over the rotated frames."""

    n_pairs: int  # pairs N
    dim: int  # D, a power of two and >= 2N
    query: Query = "last"  # which pair of a prefix is asked for
    supervision: Supervision = "last"  # one query of the whole context, or of every prefix
    mask: Mask = "strict"
    steps: int = 400
    rate: float = 0.25  # of the nineteen parameters; descent of all weights has D times this rate
    momentum: float = 0.0  # how much of its last move a weight repeats in descent
    optimiser: Optimiser = "descent"  # or Adam, whose rate is the same for both


def rotations(dim: int, *, without: Part | None = None) -> Rotations:
    """The 2 D^2 pairs (E, F), or those that are left without a part of the group.

    Of the pair with shift a and signs b, F moves the halves of a position by a and b without their
    last digit, and swaps the halves where a is odd. ValueError unless D is a power of two, >= 2.
    """
    if dim < 2 or dim & (dim - 1):
        raise ValueError(f"signed permutations need D = 2, 4, 8, ..., got {dim}")
    numbers, half = torch.arange(dim), dim // 2
    shift, signs = (part.flatten() for part in torch.meshgrid(numbers, numbers, indexing="ij"))
    first = _signed_permutations(shift, signs, dim)
    if without == "items":
        first = torch.eye(dim, dtype=torch.float64).expand_as(first)
    moved = _signed_permutations(shift // 2, signs // 2, half)
    if without == "positions":
        moved = torch.eye(half, dtype=torch.float64).expand_as(moved)
    second = torch.zeros_like(first)
    second[:, :half, :half] = second[:, half:, half:] = moved
    if without != "swap":
        odd = shift % 2 == 1
        second[odd] = tasks.swap_halves(second[odd])
    both = (1, 1) if without == "sign" else (1, -1)
    return torch.cat([first, first]), torch.cat([sign * second for sign in both])


def _signed_permutations(
    shift: Int[Tensor, " frames"], signs: Int[Tensor, " frames"], dim: int
) -> Float[Tensor, "frames dim dim"]:
    """X^a Z^b: coordinate x goes to x xor a, with the sign (-1)^(ones in x and b)."""
    x = torch.arange(dim)
    digits = torch.arange(dim.bit_length())
    parity = (((x & signs[:, None])[..., None] >> digits) & 1).sum(dim=-1) % 2
    matrices = torch.zeros(len(shift), dim, dim, dtype=torch.float64)
    frame = torch.arange(len(shift))[:, None]
    matrices[frame, x ^ shift[:, None], x] = (1 - 2 * parity).double()
    return matrices


class Frames:
    """The contexts of a descent, one for each rotation of an orthonormal frame, and their loss."""

    def __init__(self, settings: Descent, *, without: Part | None = None) -> None:
        n_pairs, dim = settings.n_pairs, settings.dim
        generator = torch.Generator().manual_seed(0)
        rows = tasks.orthonormal_pairs(1, n_pairs, dim, generator=generator).inputs[0]
        first, second = rotations(dim, without=without)
        self.rows = torch.cat([rows[:, :dim] @ first.mT, rows[:, dim:] @ second.mT], dim=-1)
        self.settings = settings

    def loss(self, weights: Weights) -> Float[Tensor, ""]:
        """The mean of |y - z|^2 over all frames, prefixes and queries."""
        settings, total = self.settings, self.rows.new_zeros(())
        chances = weighting(settings.n_pairs, settings.supervision).tolist()
        for n_pairs, chance in enumerate(chances, start=1):
            asked = [n_pairs - 1] if settings.query == "last" else range(n_pairs)
            for pair in asked if chance else ():
                query = self.rows[:, 2 * pair].clone()
                query[:, settings.dim :] = 0  # it has no position
                inputs = torch.cat([self.rows[:, : 2 * n_pairs], query[:, None]], dim=1)
                error = models.disentangled_output(weights, inputs, mask=settings.mask)
                error = error - self.rows[:, 2 * pair + 1, : settings.dim]
                total = total + chance / len(asked) * error.square().sum(dim=-1).mean()
        return total

    def gradient(self, weights: Weights) -> Weights:
        """The mean gradient with respect to all weights."""
        leaves = Weights(*(part.detach().requires_grad_() for part in weights))
        return Weights(*torch.autograd.grad(self.loss(leaves), list(leaves)))


def landscape_of(settings: Descent) -> theory.Landscape:
    """The loss of the nineteen parameters that belongs to a descent."""
    return theory.landscape_of(
        settings.n_pairs, settings.query,
        model="full", supervision=settings.supervision, mask=settings.mask,
    )  # fmt: skip


def weights_of(point: Sequence[float] | np.ndarray, dim: int) -> Weights:
    """W(theta), the weights of Theorem 1 with these nineteen parameters."""
    values = torch.tensor(np.asarray(point), dtype=torch.float64)
    return embed(PseudoParameters.unstack(values), dim)


def largest_difference(first: Weights, second: Weights) -> float:
    """Between two weights at the same place, over all 28 D^2 places."""
    return max(float((a - b).abs().max()) for a, b in zip(first, second, strict=True))


def missed(settings: Descent, point: Sequence[float], *, without: Part | None = None) -> float:
    """How far the mean gradient at W(theta) is from W of the nineteen parameters' over D."""
    slope = np.array(landscape_of(settings).gradient(*point)) / settings.dim
    frames = Frames(settings, without=without)
    gradient = frames.gradient(weights_of(point, settings.dim))
    return largest_difference(gradient, weights_of(slope, settings.dim))


def descend(settings: Descent) -> Iterator[tuple[Weights, Float[np.ndarray, "19"]]]:
    """All weights after each update, and the nineteen parameters after theirs, from zero."""
    frames, landscape, dim = Frames(settings), landscape_of(settings), settings.dim
    weights, nineteen = weights_of(np.zeros(19), dim), torch.zeros(19, dtype=torch.float64)
    move_all, move = _optimiser(settings), _optimiser(settings)
    for _ in range(settings.steps):
        slope = torch.tensor(landscape.gradient(*nineteen.tolist()), dtype=torch.float64)
        every = zip(weights, move_all(frames.gradient(weights)), strict=True)
        weights = Weights(*(part + moved for part, moved in every))
        nineteen = nineteen + move([slope / dim])[0]
        yield weights, nineteen.numpy()


def departure(settings: Descent) -> tuple[list[float], float]:
    """alpha_3, beta_2 and gamma_3 after a descent, and how far the weights ever are from W."""
    most, point = 0.0, np.zeros(19)
    for weights, point in descend(settings):
        most = max(most, largest_difference(weights, weights_of(point, settings.dim)))
    return point[HEAD].tolist(), most


def _optimiser(settings: Descent) -> Callable[[Sequence[Tensor]], list[Tensor]]:
    """What is added to weights after each of their gradients."""
    zeros = [torch.zeros((), dtype=torch.float64)] * 3
    moves, means, squares = zeros.copy(), zeros.copy(), zeros.copy()
    steps = itertools.count(1)

    def plain(gradients: Sequence[Tensor]) -> list[Tensor]:
        for i, slope in enumerate(gradients):
            moves[i] = settings.momentum * moves[i] - settings.dim * settings.rate * slope
        return moves[: len(gradients)]

    def adam(gradients: Sequence[Tensor]) -> list[Tensor]:
        (first, second), step = ADAM, next(steps)
        for i, slope in enumerate(gradients):
            means[i] = first * means[i] + (1 - first) * slope
            squares[i] = second * squares[i] + (1 - second) * slope**2
            size = (squares[i] / (1 - second**step)).sqrt() + EPSILON
            moves[i] = -settings.rate * means[i] / (1 - first**step) / size
        return moves[: len(gradients)]

    return adam if settings.optimiser == "adam" else plain
