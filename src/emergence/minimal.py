"""What is trained in §4: settings, records, and how parameters make the weights of Eq. 1."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from . import fast, models, tasks, theory
from .models import Mask, Weights, Windows
from .subspace import INDUCTION_HEAD, NAMES, PseudoParameters, embed, project
from .tasks import Query

Data = Literal["gaussian", "orthonormal"]
Method = Literal["fast", "dense", "closed"]
SAMPLERS = {"gaussian": tasks.gaussian_pairs, "orthonormal": tasks.orthonormal_pairs}
OUTPUTS = {"fast": fast.disentangled_output, "dense": models.disentangled_output}


@dataclass(frozen=True)
class MinimalTraining:
    """Stochastic gradient descent of the disentangled transformer (§4, Apps. C, D).

    The loss is the mean over batch and dimensions. `trained` names the pseudo-parameters that
    may move; empty means all 28 D^2 weights. They start at zero, or where all weights are free
    at N(0, initial_scale^2); those `held` stay at a value of their own. Pairs come in `copies`
    (`tasks`), and layers see `windows` (`models`). `snapshots` are steps whose weights are kept.
    Training ends early once every run has had a batch loss of at most `until_loss`.
    """

    n_pairs: int
    dim: int
    batch_size: int
    steps: int
    learning_rate: float = 1.0
    data: Data = "gaussian"
    query: Query = "uniform"
    copies: int = 1
    mask: Mask = "strict"
    windows: Windows = (None, None)
    trained: tuple[str, ...] = ()
    snapshots: tuple[int, ...] = ()
    record_every: int = 1
    initial_scale: float = 0.0
    held: tuple[tuple[str, float], ...] = ()
    until_loss: float | None = None

    def __post_init__(self) -> None:
        if min(self.steps, self.record_every) < 1:
            raise ValueError(f"steps and record_every must be positive, got {self}")
        if self.data not in SAMPLERS:
            raise ValueError(f"data must be one of {tuple(SAMPLERS)}, got {self.data!r}")
        named = {*self.trained, *dict(self.held)}
        if unknown := named - set(NAMES):
            raise ValueError(f"no pseudo-parameter is called {sorted(unknown)[0]!r}")
        if both := set(self.trained) & set(dict(self.held)):
            raise ValueError(f"{sorted(both)[0]} cannot be both trained and held")
        if self.initial_scale < 0 or (self.initial_scale and self.trained):
            raise ValueError(
                "initial_scale must not be negative, and must be zero for constrained training"
            )
        if beyond := [step for step in self.snapshots if not 0 <= step <= self.steps]:
            raise ValueError(f"snapshot at step {beyond[0]}, but training has {self.steps} steps")


class MinimalRecord(NamedTuple):
    """What training left behind; `steps` counts updates made before the measurement."""

    steps: Int[Tensor, " times"]
    pseudo: Float[Tensor, "seeds times 19"]
    outside: Float[Tensor, "seeds times"]  # Frobenius norm outside the 19-dimensional subspace
    loss: Float[Tensor, "seeds times"]  # of the fresh batch, hence a test loss
    snapshots: dict[int, Weights]


def closed_form(settings: MinimalTraining, runs: int) -> MinimalRecord:
    """The population descent of App. B.4, the same for every seed."""
    asked = (settings.data, settings.query, settings.mask, set(settings.trained))
    changed = settings.copies > 1 or settings.windows != (None, None)
    extras = changed or settings.snapshots or settings.held or settings.until_loss is not None
    if asked != ("orthonormal", "last", "strict", set(INDUCTION_HEAD)) or extras:
        raise ValueError(
            "the closed form is for orthonormal data, the last query, the strict mask, "
            f"{', '.join(INDUCTION_HEAD)}, and for no copies, windows, snapshots, held values or "
            f"early end; got {settings}"
        )
    # One 1/D from the mean over dimensions, one from the coordinates (chapter F).
    rate = settings.learning_rate / settings.dim**2
    run = theory.gradient_descent(settings.n_pairs, rate, settings.steps - 1)
    steps = torch.arange(0, settings.steps, settings.record_every)
    pseudo = torch.zeros(len(steps), len(NAMES), dtype=torch.float64)
    head = torch.from_numpy(np.stack([run.alpha, run.beta, run.gamma], axis=-1))
    pseudo[:, [NAMES.index(name) for name in INDUCTION_HEAD]] = head[steps]
    loss = torch.from_numpy(run.loss)[steps] / settings.dim
    return MinimalRecord(
        steps, pseudo.expand(runs, -1, -1), torch.zeros(runs, len(steps)), loss.expand(runs, -1), {}
    )


def stacked_batches(
    settings: MinimalTraining, streams: Sequence[torch.Generator], dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Inputs and targets of a fresh batch for every run."""
    batches = [
        SAMPLERS[settings.data](
            settings.batch_size, settings.n_pairs, settings.dim,
            generator=stream, query=settings.query, copies=settings.copies, dtype=dtype,
        )
        for stream in streams
    ]  # fmt: skip
    inputs, targets, _ = zip(*batches, strict=True)
    return torch.stack(inputs), torch.stack(targets)


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
            options = {"device": stream.device, "dtype": dtype}
            if not scale:  # and leave the stream to the data alone
                return torch.zeros(shape, **options)
            return scale * torch.randn(shape, generator=stream, **options)

        runs = [[draw(shape, stream) for shape in shapes] for stream in streams]
        return self._hold([torch.stack(parts) for parts in zip(*runs, strict=True)])

    def _hold(self, parameters: list[Tensor]) -> list[Tensor]:
        """Move the held pseudo-parameters to their values, the rest of the weights untouched."""
        if not self.settings.held:
            return parameters
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

    def descend(self, parameters: Sequence[Tensor], gradient: Sequence[Tensor]) -> list[Tensor]:
        rate = self.settings.learning_rate
        return self._hold([p - rate * g for p, g in zip(parameters, gradient, strict=True)])


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
            head = parameters[0][..., [NAMES.index(name) for name in INDUCTION_HEAD]]
            return fast.induction_head_output(head, inputs, mask=self.settings.mask)
        return super().output(parameters, inputs)

    def coordinates(self, parameters: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        return parameters[0].detach(), parameters[0].new_zeros(len(parameters[0]))

    def descend(self, parameters: Sequence[Tensor], gradient: Sequence[Tensor]) -> list[Tensor]:
        free = torch.tensor([float(name in self.settings.trained) for name in NAMES])
        # A pseudo-parameter's matrix has squared norm D, so its coordinate of the gradient is 1/D
        # of the derivative.
        rate = self.settings.learning_rate / self.settings.dim
        return [parameters[0] - rate * free.to(parameters[0]) * gradient[0]]


def _put(pseudo: Tensor, values: Sequence[tuple[str, float]]) -> Tensor:
    """The pseudo-parameters with the named ones at these values."""
    pseudo = pseudo.clone()
    for name, value in values:
        pseudo[..., NAMES.index(name)] = value
    return pseudo
