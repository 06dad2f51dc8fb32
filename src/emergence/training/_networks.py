"""The parameters of a training of Eq. 1: all weights, or only named pseudo-parameters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from emergence import fast, models
from emergence.models import Weights
from emergence.running.graphs import constant
from emergence.subspace import HEAD, INDUCTION_HEAD, NAMES, PseudoParameters, embed, project

from ._settings import Method, MinimalTraining

#: The disentangled transformer's output by method, `fast` or `dense` (Eq. 1).
OUTPUTS = {"fast": fast.disentangled_output, "dense": models.disentangled_output}
Parameters = Sequence[Tensor]


@runtime_checkable
class Network(Protocol):
    """The parameters of a training of Eq. 1, the output that they give, and their update (§4)."""

    @property
    def settings(self) -> MinimalTraining:
        """The settings of the training."""

    def start(self, streams: Sequence[torch.Generator], dtype: torch.dtype) -> list[Tensor]:
        """The parameters of every run before the first step, one run per stream."""

    def weights(self, parameters: Parameters) -> Weights:
        """The weights of Eq. 1 that the parameters give."""

    def output(self, parameters: Parameters, inputs: Tensor) -> Float[Tensor, "*runs batch dim"]:
        """The prediction at the query item."""

    def coordinates(self, parameters: Parameters) -> tuple[Tensor, Tensor]:
        """The 19 pseudo-parameters, and the norm of the weights outside their subspace."""

    def descend(self, parameters: Parameters, gradient: Parameters) -> None:
        """Move the parameters down the gradient, in place."""


@dataclass(frozen=True)
class Full:
    """A network whose 28 D^2 weights are all free, W1, W2 and W3 (§4, Apps. C, D).

    After each update, held pseudo-parameters get their values back.

    Args:
        settings: the settings of the training, with no pseudo-parameters named as `trained`.
        method: `fast`, or `dense`, as Eq. 1 is written.
    """

    settings: MinimalTraining
    method: Method

    def start(self, streams: Sequence[torch.Generator], dtype: torch.dtype) -> list[Tensor]:
        """The weights before the first step; if random, each run draws them from its own stream."""
        dim, scale = self.settings.dim, self.settings.initial_scale
        shapes = (2 * dim, 2 * dim), (4 * dim, 4 * dim), (8 * dim, dim)

        def draw(shape: tuple[int, int], stream: torch.Generator) -> Tensor:
            options: dict[str, Any] = {"device": stream.device, "dtype": dtype}
            if not scale:  # and leave the stream to the data alone
                return torch.zeros(shape, **options)
            return scale * torch.randn(shape, generator=stream, **options)

        runs = [[draw(shape, stream) for shape in shapes] for stream in streams]
        return self._hold([torch.stack(parts) for parts in zip(*runs, strict=True)])

    def weights(self, parameters: Parameters) -> Weights:
        return Weights(*parameters)

    def output(self, parameters: Parameters, inputs: Tensor) -> Tensor:
        return _output(self.settings, self.method, Weights(*parameters), inputs)

    def coordinates(self, parameters: Parameters) -> tuple[Tensor, Tensor]:
        pseudo, outside = project(Weights(*parameters))
        return pseudo.stacked(), outside

    def descend(self, parameters: Parameters, gradient: Parameters) -> None:
        shift = torch._foreach_mul(list(gradient), self.settings.learning_rate)
        torch._foreach_sub_(list(parameters), shift)
        if self.settings.held:
            for parameter, held in zip(parameters, self._hold(parameters), strict=True):
                parameter.copy_(held)

    def _hold(self, parameters: Parameters) -> list[Tensor]:
        """Move the held pseudo-parameters to their values, the rest of the weights untouched."""
        if not self.settings.held:
            return list(parameters)
        pseudo = project(Weights(*parameters))[0].stacked()
        gap = _put(pseudo, self.settings.held) - pseudo
        shift = embed(PseudoParameters.unstack(gap), self.settings.dim)
        return [p + s for p, s in zip(parameters, shift, strict=True)]


@dataclass(frozen=True)
class Constrained:
    """A network of which only named pseudo-parameters are free (§5, App. D).

    Its one parameter is the row of all 19; the others stay at zero or at their held values.

    Args:
        settings: the settings of the training, with the names as `trained`.
        method: as `training.Full` takes it.
    """

    settings: MinimalTraining
    method: Method

    def start(self, streams: Sequence[torch.Generator], dtype: torch.dtype) -> list[Tensor]:
        zero = torch.zeros(len(streams), len(NAMES), device=streams[0].device, dtype=dtype)
        return [_put(zero, self.settings.held)]

    def weights(self, parameters: Parameters) -> Weights:
        return embed(PseudoParameters.unstack(parameters[0]), self.settings.dim)

    def output(self, parameters: Parameters, inputs: Tensor) -> Tensor:
        in_use = {*self.settings.trained, *dict(self.settings.held)}
        whole = self.settings.windows == (None, None)
        if self.method == "fast" and whole and in_use <= set(INDUCTION_HEAD):
            head = parameters[0][..., constant(tuple(HEAD), parameters[0].device)]
            return fast.induction_head_output(head, inputs, mask=self.settings.mask)
        return _output(self.settings, self.method, self.weights(parameters), inputs)

    def coordinates(self, parameters: Parameters) -> tuple[Tensor, Tensor]:
        return parameters[0].detach().clone(), parameters[0].new_zeros(len(parameters[0]))

    def descend(self, parameters: Parameters, gradient: Parameters) -> None:
        named = tuple(float(name in self.settings.trained) for name in NAMES)
        free = constant(named, parameters[0].device, parameters[0].dtype)
        # A pseudo-parameter's matrix has squared norm D, so its coordinate of the gradient is 1/D
        # of the derivative.
        rate = self.settings.learning_rate / self.settings.dim
        parameters[0].sub_(rate * free * gradient[0])


def _output(settings: MinimalTraining, method: Method, weights: Weights, inputs: Tensor) -> Tensor:
    """The prediction of Eq. 1 by the method, with the mask and windows of the settings."""
    return OUTPUTS[method](weights, inputs, mask=settings.mask, windows=settings.windows)


def _put(pseudo: Tensor, values: Sequence[tuple[str, float]]) -> Tensor:
    """The pseudo-parameters with the named ones at these values."""
    pseudo = pseudo.clone()
    for name, value in values:
        pseudo[..., NAMES.index(name)] = value
    return pseudo
