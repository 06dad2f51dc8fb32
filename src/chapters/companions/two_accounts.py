"""Two accounts of one circuit: pseudo-parameters and associative memories, read side by side.

A memory is a list of associations between vectors, `left` with `right` (a query with its key, an
input with its output), and a matrix W that is to hold them. Both accounts look at the same table
of scores left_i . W right_j. The paper's projection is the mean of its diagonal, in units of the
vectors' lengths; the recall asks in how many rows the diagonal is greatest.

All settings are ours.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from chapters.companions.birth import Simplified as StreamSettings
from chapters.companions.birth import task
from chapters.companions.birth.model import Frozen, Trained, forward, from_matrices, recall
from chapters.companions.birth.stored import train
from chapters.companions.birth.task import Bigrams
from emergence.analysis import settled
from emergence.models import Weights, disentangled_output
from emergence.running.memo import kept
from emergence.tasks import swap_halves
from emergence.training import MinimalTraining, train_minimal

# Figure 4's sizes; App. D's rate and batch
MINIMAL = MinimalTraining(n_pairs=16, dim=32, batch_size=256, steps=400)
# half of chapter 07's length and steps, a quarter and half of the source's: enough for the head
STREAM = StreamSettings(length=64, steps=500)


@dataclass(frozen=True)
class TwoAccountsSettings:
    """Two trainings and how often they are read."""

    minimal: MinimalTraining = MINIMAL
    stream: StreamSettings = STREAM
    densely: int = 80  # steps of the minimal model read one by one, the others every fourth
    moment_batches: int = 12  # of the turning time; six give it to 5% (two seeds)

    def read_at(self) -> tuple[int, ...]:
        """The steps at which the minimal model is read."""
        last, dense = self.minimal.steps, min(self.densely, self.minimal.steps)
        return (*range(dense), *range(dense, last, 4), last)


class AssociativeMemory(NamedTuple):
    """M associations and the matrix that is to hold them."""

    weight: Float[Tensor, "n m"]
    left: Float[Tensor, "M n"]
    right: Float[Tensor, "M m"]

    @property
    def table(self) -> Float[Tensor, "M M"]:
        """Scores of every left vector with every right one."""
        return self.left @ self.weight @ self.right.T

    @property
    def target(self) -> Float[Tensor, "n m"]:
        """The outer-product sum of the associations."""
        return self.left.T @ self.right


class Reading(NamedTuple):
    """What both probes say of one memory."""

    recall: float  # share of associations whose score is the greatest of its row
    coefficient: float  # of the outer-product sum in W, by orthogonal projection
    strength: float  # mean score of an association
    contrast: float  # norm along the sum over norm per direction elsewhere; signed


def read_memory(memory: AssociativeMemory) -> Reading:
    """Both probes of a memory, in double precision."""
    weight, *_ = memory = AssociativeMemory(*(part.detach().double() for part in memory))
    table, target = memory.table, memory.target
    square = float(target.square().sum())
    coefficient = float(table.trace()) / square
    outside = max(0.0, float(weight.square().sum()) - coefficient**2 * square)
    noise = (outside / (weight.numel() - 1)) ** 0.5
    along = coefficient * square**0.5
    contrast = along / noise if noise else np.copysign(np.inf, along) if along else 0.0
    strength = float(table.diagonal().mean())
    return Reading(recall(table), coefficient, strength, float(contrast))


class Head(NamedTuple):
    """One entry a part of the head, in the order in which both accounts have them emerge."""

    output: AssociativeMemory  # gamma_3, W_OV^2
    match: AssociativeMemory  # beta_2, W_KQ^2
    previous: AssociativeMemory  # alpha_3, W_KQ^1


def minimal_head(weights: Weights) -> Head:
    """The disentangled transformer of one run, whose vectors have no list.

    Any orthonormal frame does: its outer-product sum is I, or M where one side is swapped, so
    that coefficients are pseudo-parameters, exactly. We take the axes.
    """
    dim = weights.w3.shape[-1]
    axes = torch.eye(dim, dtype=weights.w3.dtype, device=weights.w3.device)
    return Head(
        AssociativeMemory(weights.w3[4 * dim : 5 * dim], axes, axes),
        AssociativeMemory(weights.w2[:dim, 2 * dim : 3 * dim], axes, axes),
        AssociativeMemory(weights.w1[dim:, dim:], swap_halves(axes), axes),
    )


def stream_head(frozen: Frozen, trained: Trained, triggers: Int[Tensor, " k"]) -> Head:
    """The model of bigrams in context, two layers.

    W_OV^2 is o v with v frozen, so its memory lies in o, between values and outputs. Positions
    are those of the first quarter, as in chapter 07 and the source's code.
    """
    scale = frozen.e.shape[-1] ** -0.5
    asking, early = frozen.e[triggers], frozen.p[: max(2, len(frozen.p) // 4)]
    return Head(
        AssociativeMemory(trained.o.T, frozen.e @ frozen.v.T, frozen.u),
        AssociativeMemory(trained.kq[1] * scale, asking, asking @ frozen.ov1.T),
        AssociativeMemory(trained.kq[0] * scale, early[1:], early[:-1]),
    )


class Curves(NamedTuple):
    """Readings during training; the last two axes are the parts of `Head` and of `Reading`."""

    steps: Int[np.ndarray, " times"]
    readings: Float[np.ndarray, "seeds times 3 4"]
    sizes: tuple[int, ...]  # M of each memory

    def of(self, probe: str) -> Float[np.ndarray, "3 seeds times"]:
        """One field of `Reading`, memory by memory."""
        return self.readings[..., Reading._fields.index(probe)].transpose(2, 0, 1)


def _curves(runs: Sequence[Mapping[int, Sequence[Any]]], head: Head) -> Curves:
    return Curves(
        np.array([*runs[0]]),
        np.array([[*run.values()] for run in runs], dtype=float),
        tuple(len(memory.left) for memory in head),
    )


@kept
def train_minimal_model(
    settings: TwoAccountsSettings, seeds: Sequence[int], *, device: torch.device
) -> Curves:
    """The disentangled transformer, all weights free, all seeds at once."""
    what = replace(settings.minimal, snapshots=settings.read_at())
    record = train_minimal(what, seeds, device=device, label="minimal")
    runs = []
    for i in range(len(seeds)):
        heads = {
            step: minimal_head(Weights(*(part[i] for part in weights)))
            for step, weights in record.snapshots.items()
        }
        runs.append({step: [*map(read_memory, head)] for step, head in heads.items()})
    return _curves(runs, heads[0])


@dataclass(frozen=True)
class StreamReader:
    """Reads both probes of the three memories in the model of bigrams."""

    def __call__(
        self, frozen: Frozen, trained: Trained, triggers: Int[Tensor, " k"]
    ) -> list[Reading]:
        return [*map(read_memory, stream_head(frozen, trained, triggers))]


@kept
def train_stream_model(
    settings: TwoAccountsSettings, bigrams: Bigrams, seeds: Sequence[int], *, device: torch.device
) -> Curves:
    """The model of bigrams in context, by descent with momentum."""
    records = [
        train(settings.stream, bigrams, seed, n_layers=2, device=device,
              label=f"stream, seed {seed}", read=StreamReader())
        for seed in seeds
    ]  # fmt: skip
    triggers = task.make(bigrams, settings.stream.n_triggers, device).triggers
    head = stream_head(records[0].frozen, records[0].trained, triggers)
    runs = [dict(zip(r.probed.tolist(), r.readings.tolist(), strict=True)) for r in records]
    return _curves(runs, head)


DEVIATIONS = 3.0  # a part has begun when chance does not explain what is seen of it


def arrivals(
    curves: Curves, probe: Literal["recall", "coefficient"], moment: Literal["begun", "half"]
) -> Float[np.ndarray, "3 seeds"]:
    """The step from which on each part is there for good; infinity if never.

    Begun is three standard deviations above chance: of recall, of as many blind guesses; of the
    coefficient, of a direction of white noise. Half is a recall of 1/2, and for the coefficient
    Definition 1: a mean score of 1/2, which for orthonormal vectors is the coefficient itself.
    """
    series, levels = curves.of(probe), [0.5] * 3
    if (probe, moment) == ("coefficient", "begun"):
        series, levels = curves.of("contrast"), [DEVIATIONS] * 3
    elif probe == "coefficient":
        series = curves.of("strength")
    elif moment == "begun":  # a recall that M guesses among as many candidates do not reach
        chances = [(1 / size, size) for size in curves.sizes]
        levels = [p + DEVIATIONS * (p * (1 - p) / size) ** 0.5 for p, size in chances]
    pairs = zip(series, levels, strict=True)
    return np.stack([settled(curves.steps, part, level) for part, level in pairs])


# The theorem of small times: what gradient flow from zero weights does first, from data alone.
#
# Both models answer linearly in the last matrix W3. To leading order the loss acts through ell(W1,
# W2, W3), the mean of <g, answer> with g the loss's gradient at what a model of zero weights
# answers. Derivatives of ell at zero weights are moments of the data. The three matrices of either
# model, key-query 1 and 2 and output, are `Weights`.
Value = Callable[[Weights], Tensor]  # a number, differentiable


class Moments(NamedTuple):
    """The coefficients of the theorem, to leading order in each way that a matrix moves.

    W3 = t output, W2 = t^2 match, W1 = t direct + t^2 leak + t^4 previous.
    """

    output: Float[Tensor, "n3 m3"]
    match: Float[Tensor, "n2 m2"]
    direct: Float[Tensor, "n1 m1"]
    leak: Float[Tensor, "n1 m1"]
    previous: Float[Tensor, "n1 m1"]

    def at(self, time: float) -> Weights:
        """The weights after so much time, to the order of the theorem."""
        return Weights(
            time * self.direct + time**2 * self.leak + time**4 * self.previous,
            time**2 * self.match,
            time * self.output,
        )


def small_time_moments(
    linear: Sequence[Value], zero: Weights, keep: Callable[[Weights], Weights] = lambda parts: parts
) -> Moments:
    """The moments of several batches, each given by its ell; `keep` projects what is averaged.

    At zero, output = -d3 ell and direct = -d1 ell. With W3 = output, match = -1/2 d2 ell, leak is
    -1/2 of what that adds to d1 ell, and previous -1/4 of the change of d1 ell along W2 = match.
    """
    nothing = Weights(*map(torch.zeros_like, zero))

    def mean(gradients: Sequence[Weights]) -> Weights:
        each = zip(zip(*gradients, strict=True), nothing, strict=True)
        return keep(Weights(*(sum(parts, start) / len(gradients) for parts, start in each)))

    start = mean([_gradient(value, zero) for value in linear])
    output, direct = -start.w3, -start.w1
    second = zero._replace(w3=output)
    later = mean([_gradient(value, second) for value in linear])
    match, leak = -later.w2 / 2, -(later.w1 - start.w1) / 2

    def mixed(value: Value) -> Weights:
        free = _free(second)
        along = torch.autograd.grad(value(free), free.w2, create_graph=True)[0]
        return nothing._replace(w1=torch.autograd.grad((along * match).sum(), free.w1)[0])

    return Moments(output, match, direct, leak, -mean([*map(mixed, linear)]).w1 / 4)


def _free(at: Weights) -> Weights:
    return Weights(*(part.detach().requires_grad_() for part in at))


def _gradient(value: Value, at: Weights) -> Weights:
    free = _free(at)
    return Weights(*torch.autograd.grad(value(free), free))


@kept
def flow(loss: Value, zero: Weights, times: Sequence[float]) -> list[Weights]:
    """The weights at rising times under gradient flow of a loss, a Runge-Kutta step per time."""
    now, before, coefficients = zero, 0.0, []
    for time in times:
        step, slopes = time - before, [_gradient(loss, now)]
        for share in (0.5, 0.5, 1.0):
            slopes.append(_gradient(loss, _moved(now, slopes[-1], -share * step)))
        for slope, share in zip(slopes, (1, 2, 2, 1), strict=True):
            now = _moved(now, slope, -share * step / 6)
        coefficients.append(now)
        before = time
    return coefficients


def _moved(now: Weights, slope: Weights, by: float) -> Weights:
    return Weights(*(part + by * pull for part, pull in zip(now, slope, strict=True)))


class Problem(NamedTuple):
    """A loss on one batch, its ell, and zero weights."""

    loss: Value
    linear: Value
    zero: Weights


def minimal_problem(
    inputs: Float[Tensor, "batch length width"],
    target: Float[Tensor, "batch dim"],
    *,
    leaks: bool = True,
) -> Problem:
    """The disentangled transformer with the squared loss, a mean over dimensions.

    Without leaks the output does not read what layer 1 retrieved: gamma_2 and gamma_4 stay 0.
    """
    dim = target.shape[-1]
    read = torch.ones(8, 1, 1, dtype=inputs.dtype, device=inputs.device)
    if not leaks:
        read[[2, 3, 6, 7]] = 0
    zero = Weights(*(inputs.new_zeros(k * dim, (k if k < 8 else 1) * dim) for k in (2, 4, 8)))

    def output(parts: Weights) -> Tensor:
        w3 = (parts.w3.view(8, dim, dim) * read).view(8 * dim, dim)
        return disentangled_output(parts._replace(w3=w3), inputs)

    return Problem(
        lambda parts: (output(parts) - target).square().mean(),
        lambda parts: -2 * (output(parts) * target).mean(),
        zero,
    )


def stream_problem(frozen: Frozen, batch: task.Batch) -> Problem:
    """The model of bigrams in context with cross-entropy at scored positions; W3 is o."""
    wanted = batch.targets[batch.scored]
    zero = Weights(*[torch.zeros_like(frozen.ov1)] * 3)

    def logits(parts: Weights) -> Tensor:
        trained = from_matrices(parts)
        return forward(frozen, trained, batch.tokens)[0][batch.scored]

    pull = logits(zero).softmax(dim=-1)
    pull[torch.arange(len(wanted)), wanted] -= 1
    return Problem(
        lambda parts: cross_entropy(logits(parts), wanted),
        lambda parts: (pull * logits(parts)).sum(dim=-1).mean(),
        zero,
    )


def turning_time(leak: float, previous: float) -> float:
    """When t^2 leak + t^4 previous is 0 again; infinity if both have the same sign."""
    return (-leak / previous) ** 0.5 if leak * previous < 0 else float("inf")
