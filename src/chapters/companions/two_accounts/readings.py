"""Both probes of one associative memory, the three memories of a head, and curves in training.

A memory is a list of associations between vectors, `left` with `right` (a query with its key, an
input with its output), and a matrix W that is to hold them. Both accounts look at the same table
of scores left_i . W right_j. The paper's projection is the mean of its diagonal, in units of the
vectors' lengths; the recall asks in how many rows the diagonal is greatest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from chapters.companions.birth import task
from chapters.companions.birth.model import Frozen, Trained, recall
from chapters.companions.birth.stored import train
from chapters.companions.birth.task import Bigrams
from emergence.analysis import settled
from emergence.models import Weights
from emergence.running.memo import kept
from emergence.tasks import swap_halves
from emergence.training import train_minimal

from . import TwoAccountsSettings


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


@dataclass(frozen=True)
class StreamReader:
    """Reads both probes of the three memories in the model of bigrams."""

    def __call__(
        self, frozen: Frozen, trained: Trained, triggers: Int[Tensor, " k"]
    ) -> list[Reading]:
        return [*map(read_memory, stream_head(frozen, trained, triggers))]


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


Moment = Literal["begun", "half"]
Probe = Literal["recall", "coefficient"]
DEVIATIONS = 3.0  # a part has begun when chance does not explain what is seen of it


def arrivals(curves: Curves, probe: Probe, moment: Moment) -> Float[np.ndarray, "3 seeds"]:
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
    elif moment == "begun":
        levels = [beyond_chance(size) for size in curves.sizes]
    pairs = zip(series, levels, strict=True)
    return np.stack([settled(curves.steps, part, level) for part, level in pairs])


def beyond_chance(size: int) -> float:
    """A recall that M guesses among as many candidates do not reach."""
    chance = 1 / size
    return chance + DEVIATIONS * (chance * (1 - chance) / size) ** 0.5
