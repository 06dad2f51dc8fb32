"""How much of AdamW's second moment is the noise of batches, measured along a training."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from emergence.running import loop
from emergence.running.devices import generator
from emergence.running.memo import resumable
from emergence.training import TokenTraining, initial_transformer

from .networks import StackedDescent, stacked
from .train import fresh_gradients

APART = 500_000  # between the seed of a training and that of the batches that only measure


@resumable
def noise_share(
    settings: TokenTraining, seeds: Sequence[int], *, device: torch.device, label: str = "noise"
) -> Float[np.ndarray, " runs"]:
    """The share of batch noise in what AdamW divides by, weighted by what each weight contributes.

    With g the mean gradient of a weight and s^2/B its variance over batches, the loss falls by the
    sum of g^2 / sqrt(g^2 + s^2/B). Raising B speeds each term up with the local power nu/2, where
    nu is the share of s^2/B. Both are means over the steps, for AdamW's own memory of a thousand
    steps is longer than the trainings. A second batch at each step, of which the training knows
    nothing, tells g from s; weights come from odd steps and shares from even ones, or the noise of
    the one would count in the other. A share is between 0 and 1 but for the measurement.

    Raises ArithmeticError when a run diverges, and ValueError for another optimiser than AdamW or
    for fewer than ten steps, which should be as many as the training takes to emerge.
    """
    if settings.optimiser != "adamw" or settings.steps < 10:
        raise ValueError(f"AdamW for ten steps or more, got {settings}")
    streams = [generator(seed, device) for seed in seeds]
    others = [generator(seed + APART, device) for seed in seeds]
    weights = stacked([initial_transformer(settings, stream) for stream in streams])
    rates = torch.full((len(seeds),), settings.learning_rate, device=device)
    descent = StackedDescent(settings, weights, rates)
    # of even and of odd steps: sums of g g' and of (g^2 + g'^2)/2 over two batches
    signal, square = ([[torch.zeros_like(w) for w in weights] for _ in range(2)] for _ in range(2))

    def step(even: bool) -> tuple[Tensor, None]:
        weights = descent.of(tuple(range(len(seeds))))
        mine, other = (fresh_gradients(settings, weights, s) for s in (streams, others))
        for at, (a, b) in enumerate(zip(mine, other, strict=True)):
            signal[not even][at] += a * b
            square[not even][at] += (a.square() + b.square()) / 2
        descent.step(mine)
        return mine[0], None

    loop.descend(
        settings.steps,
        label,
        step,
        rows=[],
        every=2,
        weights=tuple(descent.weights),
        moments=tuple(descent.first + descent.second),
        sums=tuple(signal[0] + signal[1] + square[0] + square[1]),
        streams=tuple(streams + others),
        place=descent.corrections.place,
    )
    fall = whole = torch.zeros(len(seeds), device=device)
    for odd, even, total in zip(signal[1], signal[0], square[0], strict=True):
        weight = odd / total.sqrt().clamp_min(1e-12)
        share = 1 - even / total.clamp_min(1e-24)
        whole = whole + weight.flatten(1).sum(dim=1)
        fall = fall + (weight * share).flatten(1).sum(dim=1)
    return (fall / whole).cpu().double().numpy()
