"""What a model answers, whole and with one matrix truncated; where it looks; its spectra."""

import itertools
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from chapters.companions.birth.task import rows_of

from . import task
from .model import Asked, Model, after_first, answer, ask, restricted, truncated

LAYERS = "first", "last"
MATRICES = "v", "o", "w_in", "w_out"


class Tested(NamedTuple):
    """Fresh sequences and the scored positions."""

    batch: task.Batch
    at: Int[Tensor, "batch R"]
    real: Bool[Tensor, "batch R"]

    @classmethod
    def of(cls, batch: task.Batch, trigger: int) -> "Tested":
        """A batch, scored where the trigger has stood before."""
        return cls(batch, *rows_of(task.repeated(batch, trigger)))

    @property
    def targets(self) -> Int[Tensor, " K"]:
        """What follows the scored positions."""
        return self.batch.targets.gather(1, self.at)[self.real]


class Answers(NamedTuple):
    """p(noise | trigger) on text with noise; the same, and accuracy, on text without."""

    noise: Float[Tensor, ""]
    noise_clean: Float[Tensor, ""]
    clean: Float[Tensor, ""]


class Probe(NamedTuple):
    """Text with noise and text without, and the trigger."""

    noisy: Tested
    clean: Tested
    trigger: int

    @torch.no_grad()
    def streams(self, model: Model) -> list[Float[Tensor, "batch T d"]]:
        """Both texts after the first layer."""
        return [after_first(model, tested.batch.tokens) for tested in (self.noisy, self.clean)]

    @torch.no_grad()
    def asked(self, model: Model, streams: list[Tensor] | None = None) -> list[Asked]:
        """Both texts where the last feed-forward layer finds them."""
        both = zip(streams or self.streams(model), (self.noisy, self.clean), strict=True)
        return [ask(model, x, tested.at) for x, tested in both]

    @torch.no_grad()
    def answers(self, model: Model, asked: list[Asked] | None = None) -> Answers:
        """What a model answers; `asked` saves what lies before its last feed-forward layer."""
        both = zip((self.noisy, self.clean), asked or self.asked(model), strict=True)
        (noise, _), clean = (
            task.shares(answer(model, at.stream[tested.real]), tested.targets)
            for tested, at in both
        )
        return Answers(noise, *clean)

    def looks(self, asked: list[Asked]) -> tuple[Tensor, Tensor]:
        """Mass of the last layer's attention on o and on noise, in text with noise."""
        noisy = self.noisy
        return task.looks(asked[0].pattern, noisy.batch, noisy.real, self.trigger)


FOLLOWED = (  # what is truncated during training
    ("last", "w_in", 0.0),  # no last feed-forward layer
    ("first", "w_in", 0.0),  # no first one
    ("last", "w_in", 0.1),
    ("last", "w_in", 0.2),
    ("last", "w_out", 0.1),
    ("last", "w_out", 0.2),
)


@torch.no_grad()
def followed(model: Model, probe: Probe) -> list[float]:
    """One reading: answers of the full model and of those of `FOLLOWED`, then the two masses."""
    residuals = probe.asked(model)
    readings = [*probe.answers(model, residuals)]
    for layer, matrix, share in FOLLOWED:
        other = truncated(model, layer, matrix, share)
        readings += probe.answers(other, residuals if layer == "last" else None)
    readings += probe.looks(residuals)
    return list(torch.stack(readings).tolist())


@torch.no_grad()
def table(model: Model, probe: Probe, shares: tuple[float, ...]) -> dict[str, list[float]]:
    """Answers with one matrix of either layer truncated, and without its greatest value.

    Names are `layer.matrix.share`, with `less one` for the share in the last case. The matrix
    `both` stands for w_in and w_out truncated at once.
    """
    streams = probe.streams(model)
    rows = {}
    for layer in LAYERS:
        variants = {}
        for share in shares:
            narrow = truncated(model, layer, "w_in", share)
            variants[f"both.{share:g}"] = truncated(narrow, layer, "w_out", share)
        for matrix in MATRICES:
            for share in shares:
                variants[f"{matrix}.{share:g}"] = truncated(model, layer, matrix, share)
            variants[f"{matrix}.less one"] = restricted(model, layer, matrix, slice(1, None))
        for name, other in variants.items():
            residuals = probe.asked(other, streams if layer == "last" else None)
            rows[f"{layer}.{name}"] = [float(value) for value in probe.answers(other, residuals)]
    return rows


@torch.no_grad()
def push(model: Model, asked: Asked, real: Bool[Tensor, "batch R"]) -> float:
    """By how much the last feed-forward layer lifts the logit of noise above the mean logit."""
    logits = model.last.feed_forward(asked.stream[real]) @ model.u.T
    return float((logits[:, task.NOISE] - logits.mean(dim=1)).mean())


def pushes(model: Model, probe: Probe, shares: tuple[float, ...]) -> dict[str, float]:
    """`push` on text without noise, of the full model and with one matrix of the last truncated."""
    residuals = probe.asked(model)[1]
    strengths = {"full": push(model, residuals, probe.clean.real)}
    for matrix, share in itertools.product(("w_in", "w_out"), shares):
        other = truncated(model, "last", matrix, share)
        strengths[f"{matrix}.{share:g}"] = push(other, residuals, probe.clean.real)
    return strengths


class Spectrum(NamedTuple):
    """Singular values, greatest first, and |cosine| of each output vector to a direction."""

    values: Float[Tensor, " k"]
    cosines: Float[Tensor, " k"]


def spectrum(w: Float[Tensor, "r c"], direction: Float[Tensor, " r"]) -> Spectrum:
    """Of a matrix that writes into the space of the direction."""
    left, values, _ = torch.linalg.svd(w, full_matrices=False)
    return Spectrum(values, (left.mT @ direction / direction.norm()).abs())


def edge(rows: int, columns: int) -> float:
    """Greatest singular value of a large matrix of U(-1, 1)/sqrt(columns), in the limit.

    Entries have variance 1/(3 columns), so it is (sqrt(rows) + sqrt(columns))/sqrt(3 columns)
    (Bai and Yin).
    """
    return float((rows**0.5 + columns**0.5) / (3 * columns) ** 0.5)
