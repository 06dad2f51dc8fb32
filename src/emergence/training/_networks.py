"""Parameters that make the weights of Eq. 1: all weights free, or named pseudo-parameters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from emergence import fast, models
from emergence.models import Weights
from emergence.subspace import HEAD, INDUCTION_HEAD, NAMES, PseudoParameters, embed, project

from ._settings import Method, MinimalTraining

OUTPUTS = {"fast": fast.disentangled_output, "dense": models.disentangled_output}


@dataclass(frozen=True)
class Full:
    """All 28 D^2 weights are free."""

    settings: MinimalTraining
    method: Method

    def start(self, streams: Sequence[torch.Generator], dtype: torch.dtype) -> list[Tensor]:
        """The weights of every run before the first step, drawn from its own stream if random."""
        dim, scale = self.settings.dim, self.settings.initial_scale
        shapes = (2 * dim, 2 * dim), (4 * dim, 4 * dim), (8 * dim, dim)

        def draw(shape: tuple[int, int], stream: torch.Generator) -> Tensor:
            options: dict[str, Any] = {"device": stream.device, "dtype": dtype}
            if not scale:  # and leave the stream to the data alone
                return torch.zeros(shape, **options)
            return scale * torch.randn(shape, generator=stream, **options)

        runs = [[draw(shape, stream) for shape in shapes] for stream in streams]
        return self._hold([torch.stack(parts) for parts in zip(*runs, strict=True)])

    def _hold(self, parameters: Sequence[Tensor]) -> list[Tensor]:
        """Move the held pseudo-parameters to their values, the rest of the weights untouched."""
        if not self.settings.held:
            return list(parameters)
        pseudo = project(self.weights(parameters))[0].stacked()
        gap = _put(pseudo, self.settings.held) - pseudo
        shift = embed(PseudoParameters.unstack(gap), self.settings.dim)
        return [p + s for p, s in zip(parameters, shift, strict=True)]

    def weights(self, parameters: Sequence[Tensor]) -> Weights:
        return Weights(*parameters)

    def output(self, parameters: Sequence[Tensor], inputs: Tensor) -> Tensor:
        return OUTPUTS[self.method](
            self.weights(parameters),
            inputs,
            mask=self.settings.mask,
            windows=self.settings.windows,
        )

    def coordinates(self, parameters: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        pseudo, outside = project(self.weights(parameters))
        return pseudo.stacked(), outside

    def descend(self, parameters: Sequence[Tensor], gradient: Sequence[Tensor]) -> None:
        """Move the parameters down the gradient, in place."""
        for parameter, slope in zip(parameters, gradient, strict=True):
            parameter -= self.settings.learning_rate * slope
        if self.settings.held:
            for parameter, kept in zip(parameters, self._hold(parameters), strict=True):
                parameter.copy_(kept)


class Constrained(Full):
    """Only the named pseudo-parameters are free: the weights' gradient is projected on them."""

    @property
    def _in_use(self) -> set[str]:
        return {*self.settings.trained, *dict(self.settings.held)}

    def start(self, streams: Sequence[torch.Generator], dtype: torch.dtype) -> list[Tensor]:
        zero = torch.zeros(len(streams), len(NAMES), device=streams[0].device, dtype=dtype)
        return [_put(zero, self.settings.held)]

    def weights(self, parameters: Sequence[Tensor]) -> Weights:
        return embed(PseudoParameters.unstack(parameters[0]), self.settings.dim)

    def output(self, parameters: Sequence[Tensor], inputs: Tensor) -> Tensor:
        whole = self.settings.windows == (None, None)
        if self.method == "fast" and whole and self._in_use <= set(INDUCTION_HEAD):
            head = parameters[0][..., HEAD]
            return fast.induction_head_output(head, inputs, mask=self.settings.mask)
        return super().output(parameters, inputs)

    def coordinates(self, parameters: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        return parameters[0].detach().clone(), parameters[0].new_zeros(len(parameters[0]))

    def descend(self, parameters: Sequence[Tensor], gradient: Sequence[Tensor]) -> None:
        free = torch.tensor([float(name in self.settings.trained) for name in NAMES])
        # A pseudo-parameter's matrix has squared norm D, so its coordinate of the gradient is 1/D
        # of the derivative.
        rate = self.settings.learning_rate / self.settings.dim
        parameters[0].sub_(rate * free.to(parameters[0]) * gradient[0])


def _put(pseudo: Tensor, values: Sequence[tuple[str, float]]) -> Tensor:
    """The pseudo-parameters with the named ones at these values."""
    pseudo = pseudo.clone()
    for name, value in values:
        pseudo[..., NAMES.index(name)] = value
    return pseudo
