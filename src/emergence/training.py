"""Training both networks: full or constrained weights, several seeds at once, records."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from . import fast, subspace, tasks
from .knock_in import Part, install
from .minimal import (
    OUTPUTS,
    Constrained,
    Full,
    Method,
    MinimalRecord,
    MinimalTraining,
    closed_form,
    stacked_batches,
)
from .models import AttentionOnlyTransformer, Mask, Weights
from .progress import steps as counted

Optimiser = Literal["adamw", "sgd"]

__all__ = [
    "MinimalRecord",
    "MinimalTraining",
    "TokenRecord",
    "TokenTraining",
    "generator",
    "gradient_samples",
    "query_logits",
    "resolve_device",
    "train_minimal",
    "train_tokens",
]


@dataclass(frozen=True)
class TokenTraining:
    """Training of the attention-only transformer on token pairs (§2, App. E).

    Stochastic gradient descent has neither momentum nor weight decay. Parts of the circuit that
    are `given` start in place. Training ends early after a batch loss of at most `until_loss`.
    """

    dim: int = 2048
    vocabulary: int = 32
    block_size: int = 32
    n_pairs: int = 8
    batch_size: int = 512
    steps: int = 300
    learning_rate: float = 1e-3
    weight_decay: float = 0.01
    embedding_scale: float = 0.05  # decides whether 300 steps suffice: book/beyond/07_knock_in.md
    mask: Mask = "causal"
    optimiser: Optimiser = "adamw"
    given: tuple[Part, ...] = ()
    given_strength: float = 8.0  # in logits: e^8 outweighs all other entries of a context
    until_loss: float | None = None

    def __post_init__(self) -> None:
        if self.optimiser not in get_args(Optimiser):
            raise ValueError(
                f"optimiser must be one of {get_args(Optimiser)}, got {self.optimiser!r}"
            )


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
        return closed_form(settings, len(seeds))
    _check(method)
    streams = [generator(seed, device) for seed in seeds]
    network = Constrained(settings, method) if settings.trained else Full(settings, method)
    parameters = network.start(streams, dtype)
    recorded, columns, kept = [], [], {}
    least = torch.full((len(seeds),), torch.inf, device=device)

    def keep(step: int) -> None:
        if step in settings.snapshots:
            kept[step] = Weights(*(w.detach().cpu() for w in network.weights(parameters)))

    for step in counted(label, settings.steps):
        keep(step)
        parameters = [parameter.detach().requires_grad_() for parameter in parameters]
        inputs, target = stacked_batches(settings, streams, dtype)
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
            least = torch.minimum(least, loss)
        if settings.until_loss is not None and least.max() <= settings.until_loss:
            break
    else:
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
        inputs, target = stacked_batches(settings, [stream], free[0].dtype)
        output = fast.disentangled_output(
            Weights(*free), inputs[0], mask=settings.mask, windows=settings.windows
        )
        loss = (output - target[0]).square().mean()
        gradient = Weights(*torch.autograd.grad(loss, free))
        rows.append(subspace.project(gradient)[0].stacked())
    return torch.stack(rows).cpu()


def _check(method: str) -> None:
    if method not in OUTPUTS:
        raise ValueError(f"method must be one of {tuple(OUTPUTS)}, got {method!r}")


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
    install(model, settings.given, settings.given_strength)
    optimiser = _optimiser(settings, model)
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
        if settings.until_loss is not None and loss <= settings.until_loss:
            break
    return TokenRecord(torch.stack(losses).cpu(), torch.stack(accuracies).cpu(), model)


def _optimiser(settings: TokenTraining, model: AttentionOnlyTransformer) -> torch.optim.Optimizer:
    if settings.optimiser == "sgd":
        return torch.optim.SGD(model.parameters(), lr=settings.learning_rate, fused=True)
    return torch.optim.AdamW(
        model.parameters(),
        lr=settings.learning_rate,
        weight_decay=settings.weight_decay,
        fused=True,
    )


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
