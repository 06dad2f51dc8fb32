"""Toy models of two or three weights, whose loss landscapes can be drawn (§3)."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from running import loop
from running.memo import kept

Residual = Callable[[Float[Tensor, "*runs d"]], Float[Tensor, "*runs"]]


class Toy(NamedTuple):
    """A model with one sample: its residual f - y, so that L is its square, and its starts."""

    name: str
    residual: Residual
    starts: tuple[tuple[float, ...], ...]


def _leaky(x: Tensor) -> Tensor:
    return torch.nn.functional.leaky_relu(x, 0.1)


ADDITION = Toy("addition", lambda w: w[..., 0] + w[..., 1] - 2, ((-1.0, 1.0),))  # §3.1
# the starts of the others are not stated
THREE = Toy(
    "three weights",
    lambda w: w.sum(dim=-1) - 3,  # §3.2
    ((-1.0, 1.0, 0.5), (2.5, -1.0, 0.0), (0.0, 0.5, 4.0), (-0.5, 3.0, 2.5)),
)
CURVE = Toy(
    "curve",
    lambda w: w[..., 0] * w[..., 1] - 1,  # §3.3
    ((2.5, 0.0), (0.1, 2.0), (2.8, 1.2)),
)
CROSS = Toy(
    "cross",
    lambda w: w[..., 0] * w[..., 1],  # §3.3
    ((2.0, 1.0), (-0.6, 1.8), (1.2, -1.5)),
)
LEAKY = Toy(
    "leaky ReLU",
    lambda w: _leaky(w[..., 0] + w[..., 1]) - 2,  # §3.3
    ((0.2, 2.6), (-1.5, 0.5), (2.8, 0.4)),
)
PARABOLA = Toy("parabola", lambda w: w[..., 1] - w[..., 0] ** 2, ())  # §3.4, weights x and y


def slope(residual: Residual, at: Float[Tensor, "*runs d"]) -> Float[Tensor, "*runs d"]:
    """The gradient of the model f, which the residual shares."""
    at = at.detach().requires_grad_()
    return torch.autograd.grad(residual(at).sum(), at)[0]


@kept
def descend(
    toy: Toy,
    start: Float[Tensor, "runs d"],
    decay: float | Float[Tensor, "runs 1"],
    *,
    rate: float,
    steps: int,
) -> Float[Tensor, "times runs d"]:
    """Gradient descent on L_lambda (Eq. 1), the start included; ArithmeticError if it diverges."""
    path = [start]
    for step in range(steps):
        at = path[-1]
        error = toy.residual(at)
        loop.check_finite(error, f"toy: {toy.name}", step)  # whose square the loss is
        push = 2 * error.unsqueeze(-1) * slope(toy.residual, at) + 2 * decay * at
        path.append(at - rate * push)
    return torch.stack(path)


def rates(path: Float[np.ndarray, "times 2"], rate: float) -> tuple[float, float]:
    """The fast and the slow rate of the addition toy, per unit of flow time.

    Only the sum of the weights moves across Z, and only their difference along it.
    """
    total, gap = path[:, 0] + path[:, 1], path[:, 0] - path[:, 1]
    return _settling(total - total[-1]) / rate, _settling(gap) / rate


def _settling(rest: Float[np.ndarray, " times"]) -> float:
    """The share that goes in a step, while what is left is well above rounding."""
    rest = np.abs(rest)
    clear = rest[1:] > 1e-6 * rest[0]
    return float(np.median(1 - rest[1:][clear] / rest[:-1][clear]))


def tangential_cosine(residual: Residual, foot: Float[Tensor, " 2"], distance: float) -> float:
    """|cos| of the angle between the tangent at a foot on Z and grad L at this distance above it.

    The point lies on the normal, so that the foot is its projection (Theorem 4.14).
    """
    normal = torch.nn.functional.normalize(slope(residual, foot), dim=0)
    tangent = torch.stack([-normal[1], normal[0]])
    gradient = slope(residual, foot + distance * normal)  # of f, along that of L
    return float((tangent @ gradient).abs() / gradient.norm())
