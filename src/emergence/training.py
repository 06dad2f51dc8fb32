"""Training both networks: full or constrained weights, several seeds at once, records."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from . import fast, models, tasks, theory
from .models import AttentionOnlyTransformer, Mask, Weights
from .progress import steps as counted
from .subspace import INDUCTION_HEAD, NAMES, PseudoParameters, embed, project
from .tasks import Query

Data = Literal["gaussian", "orthonormal"]
Method = Literal["fast", "dense", "closed"]
SAMPLERS = {"gaussian": tasks.gaussian_pairs, "orthonormal": tasks.orthonormal_pairs}
OUTPUTS = {"fast": fast.disentangled_output, "dense": models.disentangled_output}


@dataclass(frozen=True)
class MinimalTraining:
    """Stochastic gradient descent of the disentangled transformer from zero (§4, Apps. C, D).

    The loss is the mean over batch and dimensions. `trained` names the pseudo-parameters that
    may move; empty means all 28 D^2 weights. `snapshots` are steps whose weights are kept.
    """

    n_pairs: int
    dim: int
    batch_size: int
    steps: int
    learning_rate: float = 1.0
    data: Data = "gaussian"
    query: Query = "uniform"
    mask: Mask = "strict"
    trained: tuple[str, ...] = ()
    snapshots: tuple[int, ...] = ()
    record_every: int = 1

    def __post_init__(self) -> None:
        if min(self.steps, self.record_every) < 1:
            raise ValueError(f"steps and record_every must be positive, got {self}")
        if self.data not in SAMPLERS:
            raise ValueError(f"data must be one of {tuple(SAMPLERS)}, got {self.data!r}")
        if unknown := set(self.trained) - set(NAMES):
            raise ValueError(f"no pseudo-parameter is called {sorted(unknown)[0]!r}")
        if beyond := [step for step in self.snapshots if not 0 <= step <= self.steps]:
            raise ValueError(f"snapshot at step {beyond[0]}, but training has {self.steps} steps")


class MinimalRecord(NamedTuple):
    """What training left behind; `steps` counts updates made before the measurement."""

    steps: Int[Tensor, " times"]
    pseudo: Float[Tensor, "seeds times 19"]
    outside: Float[Tensor, "seeds times"]  # Frobenius norm outside the 19-dimensional subspace
    loss: Float[Tensor, "seeds times"]  # of the fresh batch, hence a test loss
    snapshots: dict[int, Weights]


@dataclass(frozen=True)
class TokenTraining:
    """AdamW training of the attention-only transformer on token pairs (§2, App. E)."""

    dim: int = 2048
    vocabulary: int = 32
    block_size: int = 32
    n_pairs: int = 8
    batch_size: int = 512
    steps: int = 300
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    embedding_scale: float = 0.05  # decides whether 300 steps suffice; appendix E of the book
    mask: Mask = "causal"


class TokenRecord(NamedTuple):
    """One run: loss and accuracy of each fresh batch before its update, and the trained model."""

    loss: Float[Tensor, " steps"]
    accuracy: Float[Tensor, " steps"]
    model: AttentionOnlyTransformer


def resolve_device(name: str) -> torch.device:
    """The device called `auto` (CUDA where there is one), `cpu` or `cuda`; ValueError otherwise."""
    if name not in ("auto", "cpu", "cuda"):
        raise ValueError(f"device must be auto, cpu or cuda, got {name!r}")
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("device cuda was asked for, but this machine has no CUDA device")
    has_cuda = torch.cuda.is_available()
    return torch.device("cuda" if name != "cpu" and has_cuda else "cpu")


def generator(seed: int, device: torch.device) -> torch.Generator:
    """A fresh random generator: the same seed and device give the same stream."""
    return torch.Generator(device).manual_seed(seed)


def train_minimal(
    settings: MinimalTraining,
    seeds: Sequence[int],
    *,
    device: torch.device,
    method: Method = "fast",
    dtype: torch.dtype = torch.float32,
    label: str = "training",
) -> MinimalRecord:
    """Train one network per seed, all at once; each sees the data of its own seed only.

    `closed` needs no data and no network: where inputs are orthonormal and only the induction
    head is trained, every batch gives the gradient of App. B.4 exactly.
    Raises ArithmeticError when a run diverges, ValueError where `closed` does not apply.
    """
    if not seeds:
        raise ValueError("training needs at least one seed")
    if method == "closed":
        return _closed_form(settings, len(seeds))
    _check(method)
    streams = [generator(seed, device) for seed in seeds]
    network = _Constrained(settings, method) if settings.trained else _Full(settings, method)
    parameters = network.zero(len(seeds), device, dtype)
    recorded, columns, kept = [], [], {}

    def keep(step: int) -> None:
        if step in settings.snapshots:
            kept[step] = Weights(*(w.detach().cpu() for w in network.weights(parameters)))

    for step in counted(label, settings.steps):
        keep(step)
        parameters = [parameter.detach().requires_grad_() for parameter in parameters]
        inputs, target = _stacked_batches(settings, streams, dtype)
        error = network.output(parameters, inputs) - target
        loss = error.square().mean(dim=(-2, -1))
        gradient = torch.autograd.grad(loss.sum(), parameters)
        if not torch.isfinite(loss).all():
            raise ArithmeticError(f"{label}: the loss is not finite at step {step}")
        with torch.no_grad():
            if step % settings.record_every == 0:
                recorded.append(step)
                columns.append((*network.coordinates(parameters), loss.detach()))
            parameters = network.descend(parameters, gradient)
    keep(settings.steps)
    pseudo, outside, losses = (
        torch.stack(column, dim=1).cpu() for column in zip(*columns, strict=True)
    )
    return MinimalRecord(torch.tensor(recorded), pseudo, outside, losses, kept)


def gradient_samples(
    settings: MinimalTraining,
    weights: Weights,
    count: int,
    *,
    stream: torch.Generator,
) -> Float[Tensor, "count 19"]:
    """Coordinates of the gradient (Theorem 1) of `count` fresh batches at one run's weights."""
    free = [part.to(stream.device).requires_grad_() for part in weights]
    rows = []
    for _ in range(count):
        inputs, target = _stacked_batches(settings, [stream], free[0].dtype)
        output = fast.disentangled_output(Weights(*free), inputs[0], mask=settings.mask)
        loss = (output - target[0]).square().mean()
        gradient = Weights(*torch.autograd.grad(loss, free))
        rows.append(project(gradient)[0].stacked())
    return torch.stack(rows).cpu()


def _check(method: str) -> None:
    if method not in OUTPUTS:
        raise ValueError(f"method must be one of {tuple(OUTPUTS)}, got {method!r}")


def _closed_form(settings: MinimalTraining, runs: int) -> MinimalRecord:
    """The population descent of App. B.4, the same for every seed."""
    asked = (settings.data, settings.query, settings.mask, set(settings.trained))
    if asked != ("orthonormal", "last", "strict", set(INDUCTION_HEAD)) or settings.snapshots:
        raise ValueError(
            "the closed form is for orthonormal data, the last query, the strict mask, "
            f"{', '.join(INDUCTION_HEAD)} and no snapshots; got {settings}"
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


def _stacked_batches(
    settings: MinimalTraining, streams: Sequence[torch.Generator], dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Inputs and targets of a fresh batch for every run."""
    batches = [
        SAMPLERS[settings.data](
            settings.batch_size, settings.n_pairs, settings.dim,
            generator=stream, query=settings.query, dtype=dtype,
        )
        for stream in streams
    ]  # fmt: skip
    inputs, targets, _ = zip(*batches, strict=True)
    return torch.stack(inputs), torch.stack(targets)


@dataclass(frozen=True)
class _Full:
    """All 28 D^2 weights are free."""

    settings: MinimalTraining
    method: Method

    def zero(self, runs: int, device: torch.device, dtype: torch.dtype) -> list[Tensor]:
        pseudo = torch.zeros(runs, len(NAMES), device=device, dtype=dtype)
        return list(embed(PseudoParameters.unstack(pseudo), self.settings.dim))

    def weights(self, parameters: Sequence[Tensor]) -> Weights:
        return Weights(*parameters)

    def output(self, parameters: Sequence[Tensor], inputs: Tensor) -> Tensor:
        return OUTPUTS[self.method](self.weights(parameters), inputs, mask=self.settings.mask)

    def coordinates(self, parameters: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        pseudo, outside = project(self.weights(parameters))
        return pseudo.stacked(), outside

    def descend(self, parameters: Sequence[Tensor], gradient: Sequence[Tensor]) -> list[Tensor]:
        rate = self.settings.learning_rate
        return [p - rate * g for p, g in zip(parameters, gradient, strict=True)]


class _Constrained(_Full):
    """Only the named pseudo-parameters are free: the weights' gradient is projected on them."""

    def zero(self, runs: int, device: torch.device, dtype: torch.dtype) -> list[Tensor]:
        return [torch.zeros(runs, len(NAMES), device=device, dtype=dtype)]

    def weights(self, parameters: Sequence[Tensor]) -> Weights:
        return embed(PseudoParameters.unstack(parameters[0]), self.settings.dim)

    def output(self, parameters: Sequence[Tensor], inputs: Tensor) -> Tensor:
        if self.method == "fast" and self.settings.trained == INDUCTION_HEAD:
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


def train_tokens(
    settings: TokenTraining,
    seed: int,
    *,
    device: torch.device,
    method: Method = "fast",
    label: str = "training",
) -> TokenRecord:
    """Train the transformer of §2 on the negative log-likelihood of the query's label.

    Raises ArithmeticError when the run diverges.
    """
    _check(method)
    stream = generator(seed, device)
    model = AttentionOnlyTransformer(
        settings.dim, settings.vocabulary, settings.block_size,
        embedding_scale=settings.embedding_scale, generator=stream,
    )  # fmt: skip
    optimiser = torch.optim.AdamW(
        model.parameters(),
        lr=settings.learning_rate,
        weight_decay=settings.weight_decay,
        fused=True,
    )
    losses, accuracies = [], []
    for step in counted(label, settings.steps):
        batch = tasks.token_pairs(
            settings.batch_size, settings.n_pairs, settings.vocabulary, settings.block_size,
            generator=stream,
        )  # fmt: skip
        logits = query_logits(model, batch, settings.mask, method)
        loss = torch.nn.functional.cross_entropy(logits, batch.target)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.detach())
        accuracies.append((logits.argmax(dim=1) == batch.target).double().mean())
        if not torch.isfinite(loss):
            raise ArithmeticError(f"{label}: the loss is not finite at step {step}")
    return TokenRecord(torch.stack(losses).cpu(), torch.stack(accuracies).cpu(), model)


def query_logits(
    model: AttentionOnlyTransformer, batch: tasks.TokenBatch, mask: Mask, method: Method
) -> Float[Tensor, "batch vocabulary"]:
    """The logits at the query item, the only position that is trained."""
    if method == "dense":
        return model(batch.tokens, batch.positions, mask=mask)[:, -1]
    last = slice(-1, None)
    return fast.attention_only_logits(
        model, batch.tokens, batch.positions, mask=mask, rows=last
    ).squeeze(1)
