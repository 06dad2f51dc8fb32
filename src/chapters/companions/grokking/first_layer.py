"""Dynamics of the first layer while the second is optimal, in closed form (§6, §7)."""

from itertools import pairwise
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from emergence.running import loop
from emergence.running.memo import kept, resumable

from . import Simulation
from .model import RELU, Layers, Samples, accuracy, activity
from .training import instance


class Optimum(NamedTuple):
    """What Eq. 20 is made of: H, A Y and the optimal second layer.

    A = (H H^T + ridge)^-1 is never formed; its condition number is of order 10^6.
    """

    active: Float[Tensor, "n hidden"]
    multipliers: Float[Tensor, "n p"]  # A Y

    def second_layer(self) -> Float[Tensor, "hidden p"]:
        """phi(W_1) = H^T A Y, of least norm among those that fit (Eqs. 15 and 18)."""
        return self.active.T @ self.multipliers

    def cost(self, embeddings: Tensor, data: Samples) -> Tensor:
        """R / lambda of the embeddings and data that this is the optimum for."""
        return embeddings.square().sum() + (data.targets * self.multipliers).sum()

    def velocity(self, embeddings: Tensor, data: Samples) -> Tensor:
        """Delta E of the embeddings and data that this is the optimum for."""
        active, multipliers = self
        pull = RELU.pulled_back(multipliers @ (multipliers.T @ active), active)
        return data.inputs.T @ pull - embeddings


class FirstLayerPath(NamedTuple):
    """A run, one row every `log_every` steps; the clock is 2 lambda t."""

    clock: Float[Tensor, " times"]
    accuracy: Float[Tensor, " times"]  # on the pairs held out
    cost: Float[Tensor, " times"]  # R / lambda
    residual: Float[Tensor, " times"]  # largest error on the training pairs
    embeddings: Float[Tensor, "times p hidden"]


def optimum(embeddings: Float[Tensor, "p hidden"], data: Samples, ridge: float = 0.0) -> Optimum:
    """Solve for the second layer; ridge = lambda is Eq. 15, 0 the limit of Eq. 18.

    Raises ArithmeticError where the training pairs cannot be fitted: H H^T is singular.
    """
    active = activity(embeddings, data.inputs)
    gram = active @ active.T
    if ridge:
        gram.diagonal().add_(ridge)
    factor, failed = torch.linalg.cholesky_ex(gram)
    if failed:
        raise ArithmeticError("H H^T is singular: the second layer cannot fit the training pairs")
    return Optimum(active, torch.cholesky_solve(data.targets, factor))


@resumable
def simulate(
    settings: Simulation, seed: int, *, ridge: float = 0.0, label: str = "predicted gradients"
) -> FirstLayerPath:
    """Follow E <- E + step Delta E from the embeddings of `instance` (§7.3).

    A stride makes the steps larger after the steep first phase: the same flow at less cost.
    Raises ArithmeticError when the run diverges, or where the training pairs cannot be fitted.
    """
    data, (embeddings, _) = instance(settings, seed)
    rows: list[tuple[Tensor, ...]] = []
    fine = min(settings.stride_from, settings.steps) if settings.stride > 1 else settings.steps
    moments = [*range(fine), *range(fine, settings.steps + 1, settings.stride)]
    sizes = [*(b - a for a, b in pairwise(moments)), settings.stride]
    for k in loop.steps(len(moments), label, embeddings=embeddings, rows=rows):
        best = optimum(embeddings, data.train, ridge)
        value = best.cost(embeddings, data.train)
        loop.check_finite(value, label, k)
        if moments[k] % settings.log_every == 0:
            clock = torch.tensor(moments[k] * settings.step, dtype=torch.float64)
            layers = Layers(embeddings, best.second_layer())
            error = (best.active @ layers.output - data.train.targets).abs().max()
            rows.append((clock, accuracy(layers, data.test), value, error, embeddings.clone()))
        embeddings.add_(sizes[k] * settings.step * best.velocity(embeddings, data.train))
    return FirstLayerPath(*map(torch.stack, zip(*rows, strict=True)))


@kept
def cost_falls(path: FirstLayerPath, data: Samples, step: float) -> bool:
    """Whether R falls along the flow from each row of a run to the next (Theorem 5.1).

    An explicit step may overshoot where the flow falls. From a row after which R has risen, the
    flow is therefore followed again at a finer step, and R has to fall at each of these.

    Args:
        path: the run.
        data: the training pairs.
        step: of the clock, finer than that of the run.

    Raises:
        ArithmeticError: where the training pairs cannot be fitted.
    """
    for row in (path.cost.diff() >= 0).nonzero().flatten().tolist():
        embeddings = path.embeddings[row].clone()
        last = torch.inf
        for _ in range(round(float(path.clock[row + 1] - path.clock[row]) / step)):
            best = optimum(embeddings, data)
            value = float(best.cost(embeddings, data))
            if not value < last:
                return False
            last = value
            embeddings.add_(step * best.velocity(embeddings, data))
    return True
