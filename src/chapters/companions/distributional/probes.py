"""What a model answers, whole and with one matrix truncated, and where it looks."""

import itertools
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from chapters.companions.birth.task import rows_of

from . import task
from .model import LastLayer, Model, after_first, answer, ask, truncated

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
        return cls(batch, *rows_of(task.repeated_triggers(batch, trigger)))

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
    def asked(self, model: Model, streams: list[Tensor] | None = None) -> list[LastLayer]:
        """Both texts where the last feed-forward layer finds them."""
        both = zip(streams or self.streams(model), (self.noisy, self.clean), strict=True)
        return [ask(model, x, tested.at) for x, tested in both]

    @torch.no_grad()
    def answers(self, model: Model, asked: list[LastLayer] | None = None) -> Answers:
        """What a model answers; `asked` saves what lies before its last feed-forward layer."""
        both = zip((self.noisy, self.clean), asked or self.asked(model), strict=True)
        (noise, _), clean = (
            task.shares(answer(model, at.stream[tested.real]), tested.targets)
            for tested, at in both
        )
        return Answers(noise, *clean)

    def looks(self, asked: list[LastLayer]) -> tuple[Tensor, Tensor]:
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
    """Answers with one matrix of either layer truncated, by `layer.matrix.share`."""
    streams = probe.streams(model)
    rows = {}
    for layer, matrix, share in itertools.product(LAYERS, MATRICES, shares):
        other = truncated(model, layer, matrix, share)
        residuals = probe.asked(other, streams if layer == "last" else None)
        answers = probe.answers(other, residuals)
        rows[f"{layer}.{matrix}.{share:g}"] = [float(value) for value in answers]
    return rows
