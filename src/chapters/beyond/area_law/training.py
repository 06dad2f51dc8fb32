"""Training of the three parameters with free queries, and of all weights with a curriculum."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from emergence import fast, tasks
from emergence.training import SAMPLERS, Data, Full, MinimalTraining, minimal_step
from running import loop
from running.cache import Task
from running.devices import generator


@dataclass(frozen=True)
class AskedTraining:
    """Gradient descent of alpha_3, beta_2 and gamma_3 on sampled data, from zero.

    Args:
        order: the pair 0 .. K - 1 at each of the N places.
        chances: of each pair to be asked for, with a sum of 1.
        dim: dimension D of an item, label or position; for orthonormal data >= 2N.
        batch_size: queries a step, in one fresh context where these are orthonormal and so all
            alike, else in one each.
        steps: number of updates.
        rates: what a step moves of the scores' alpha_3 and beta_2 and of gamma_3, over the slope.
        data: `orthonormal` (Assumption 7) or `gaussian` (Eq. 5), whose scores are D times weights.
        vocabulary: words of a cross-entropy, >= K; None for squared error.

    Raises:
        ValueError: for other than a chance a pair, or for too small a vocabulary.
    """

    order: tuple[int, ...]
    chances: tuple[float, ...]
    dim: int
    batch_size: int
    steps: int
    rates: tuple[float, float, float]
    data: Data = "orthonormal"
    vocabulary: int | None = None

    def __post_init__(self) -> None:
        if set(self.order) != set(range(len(self.chances))):
            raise ValueError("there must be one chance for each pair of the context")
        if self.vocabulary is not None and self.vocabulary < len(self.chances):
            raise ValueError(f"{len(self.chances)} labels need as many words")


class AskedRecord(NamedTuple):
    """Scores and output before every step and after the last."""

    head: Float[Tensor, "seeds times 3"]  # alpha_3 and beta_2 as scores, and gamma_3

    def areas(self, level: float = 0.5) -> Float[np.ndarray, "seeds 2"]:
        """The sum of gamma over steps up to where alpha and beta pass, linear within a step."""
        curves = self.head.double().numpy()
        swept = np.concatenate(
            [np.zeros((len(curves), 1)), np.cumsum(curves[:, :-1, 2], axis=1)], axis=1
        )
        found = np.full((len(curves), 2), np.inf)
        for run, which in np.ndindex(found.shape):
            curve = curves[run, :, which]
            if (curve >= level).any():
                after = int((curve >= level).argmax())
                part = (level - curve[after - 1]) / (curve[after] - curve[after - 1])
                found[run, which] = swept[run, after - 1] + part * curves[run, after - 1, 2]
        return found


def train_asked(
    settings: AskedTraining, seeds: Sequence[int], *, device: torch.device, label: str = "training"
) -> AskedRecord:
    """Train the three parameters, one run a seed, on fresh batches of the network's own inputs."""
    streams = [generator(seed, device) for seed in seeds]
    head = torch.zeros(len(seeds), 3, dtype=torch.float64, device=device)
    rates = torch.tensor(settings.rates, dtype=torch.float64, device=device)
    # a score is D times a weight where items have squared norm D
    norm = float(settings.dim) if settings.data == "gaussian" else 1.0
    scale = torch.tensor([1 / norm, 1 / norm, 1.0], dtype=torch.float64, device=device)
    rows: list[Tensor] = [head.clone()]
    task = Task.of(train_asked, settings=settings, seeds=seeds)
    for step in loop.steps(
        task, settings.steps, label, head=head, streams=tuple(streams), rows=rows
    ):
        free = head.clone().requires_grad_()
        batches = [_batch(settings, stream) for stream in streams]
        inputs, labels, wanted, weight = (torch.stack(part) for part in zip(*batches, strict=True))
        output = fast.induction_head_output(free * scale, inputs)
        loss = (weight * _losses(settings, output, labels, wanted)).sum(dim=-1) / norm
        loop.check_finite(loss, label, step)
        (slope,) = torch.autograd.grad(loss.sum(), free)
        head -= rates * slope
        rows.append(head.clone())
    return AskedRecord(torch.stack([row.cpu() for row in rows], dim=1))


def _batch(
    settings: AskedTraining, stream: torch.Generator
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Inputs, the labels of pairs 0 .. K - 1, the pair asked for, and its weight in the loss.

    Queries for the same pair in the same context differ in nothing: they are counted.
    """
    n, dim, count = len(settings.order), settings.dim, len(settings.chances)
    shared = settings.data == "orthonormal"
    inputs, *_ = SAMPLERS[settings.data](
        1 if shared else settings.batch_size, n, dim,
        generator=stream, query="last", dtype=torch.float64,
    )  # fmt: skip
    order = torch.tensor(settings.order, device=inputs.device)
    chances = torch.tensor(settings.chances, dtype=torch.float64, device=inputs.device)
    wanted = torch.multinomial(chances, settings.batch_size, replacement=True, generator=stream)
    weight = inputs.new_full((settings.batch_size,), 1 / settings.batch_size)
    if shared:
        weight = torch.bincount(wanted, minlength=count)[chances > 0] / settings.batch_size
        wanted = chances.nonzero()[:, 0]
        inputs = inputs.repeat(len(wanted), 1, 1)
    items, labels = inputs[:, 0:-1:2, :dim].clone(), inputs[:, 1::2, :dim].clone()
    inputs[:, 0:-1:2, :dim], inputs[:, 1::2, :dim] = items[:, order], labels[:, order]
    inputs[:, -1, :dim] = items[torch.arange(len(items), device=items.device), wanted]
    return inputs, labels[:, :count], wanted, weight.to(inputs)


def _losses(
    settings: AskedTraining, output: Tensor, labels: Tensor, wanted: Tensor
) -> Float[Tensor, "runs queries"]:
    """The squared error of each query, or its cross-entropy in nats."""
    chosen = wanted[..., None]
    if settings.vocabulary is None:
        index = chosen[..., None].expand(*chosen.shape, labels.shape[-1])
        return (output - labels.gather(-2, index).squeeze(-2)).square().sum(dim=-1)
    logits = (labels @ output[..., None]).squeeze(-1)
    absent = logits.new_zeros(*logits.shape[:-1], settings.vocabulary - logits.shape[-1])
    total = torch.cat([logits, absent], dim=-1).logsumexp(dim=-1)
    return total - logits.gather(-1, chosen).squeeze(-1)


@dataclass(frozen=True)
class Curriculum:
    """Gradient descent of all 28 D^2 weights on Gaussian data, as in §4 except for the queries.

    Args:
        n_pairs: pairs N in a sequence.
        dim: dimension D of an item, label or position.
        batch_size: fresh sequences a step.
        ahead: steps at which the query asks for the first pair; for any pair afterwards.
        steps: number of updates in all.
    """

    n_pairs: int
    dim: int
    batch_size: int
    ahead: int
    steps: int


def train_curriculum(
    settings: Curriculum, seeds: Sequence[int], *, device: torch.device, label: str = "training"
) -> Float[np.ndarray, "seeds steps"]:
    """Batch losses before each step, one run per seed; NaN while queries ask for the first pair."""
    streams = [generator(seed, device) for seed in seeds]
    n, dim = settings.n_pairs, settings.dim
    network = Full(MinimalTraining(n, dim, settings.batch_size, settings.steps), "fast")
    weights = network.start(streams, torch.float32)
    rows: list[Tensor] = []
    task = Task.of(train_curriculum, settings=settings, seeds=seeds)
    for step in loop.steps(
        task, settings.steps, label, weights=tuple(weights), streams=tuple(streams), rows=rows
    ):
        batches = [
            tasks.gaussian_pairs(settings.batch_size, n, dim, generator=stream, dtype=torch.float32)
            for stream in streams
        ]
        inputs = torch.stack([batch.inputs for batch in batches])
        target = torch.stack([batch.target for batch in batches])
        if step < settings.ahead:
            inputs[..., -1, :dim] = inputs[..., 0, :dim]
            target = inputs[..., 1, :dim].clone()
        loss, gradient = minimal_step(network, weights, inputs, target)
        loop.check_finite(loss, label, step)
        rows.append(loss if step >= settings.ahead else torch.full_like(loss, torch.nan))
        network.descend(weights, gradient)
    return torch.stack([row.cpu() for row in rows], dim=1).numpy()
