"""Capacity of the transformer: how many facts it stores, and what each parameter is worth."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy import stats
from scipy.optimize import curve_fit
from torch import Tensor

from emergence.companions.associative_memories.capacity import Bracket, search
from emergence.companions.associative_memories.loss import Scored, scored
from emergence.running import loop
from emergence.running.cache import Task
from emergence.running.devices import generator

from . import task
from .model import Frozen, Parameters, Shape, initial, retrieved
from .settings import Settings
from .task import Facts


def square(n: int, answers: int, length: int) -> Facts:
    """S + R = n, S = R or S = R + 1, and as many noise tokens: S = R in the source."""
    return Facts((n + 1) // 2, n // 2, answers, n, length)


def best_recall(
    shape: Shape, facts: Facts, seeds: Sequence[int], settings: Settings, device: torch.device
) -> Float[np.ndarray, " seeds"]:
    """The best share of facts that each run answers rightly, with fresh noise, during training.

    Each step sees every fact once. AdamW without weight decay, the rate falling to zero. Training
    ends early when the mean over runs is `least_recall`. Raises ArithmeticError if a run diverges.
    """
    streams = [generator(seed, device) for seed in seeds]
    answers = [task.random_answers(facts, stream) for stream in streams]
    frozen, start = initial(shape, facts, streams)
    parameters = Parameters(*(part.requires_grad_() for part in start))
    optimiser = torch.optim.AdamW(
        parameters, lr=settings.capacity_rate, weight_decay=0.0, fused=True
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, settings.capacity_steps)
    best = torch.zeros(len(seeds), dtype=torch.float64, device=device)
    target = torch.stack([known.flatten() for known in answers])
    label = f"{facts.subjects * facts.relations} facts, {shape.parameters} parameters"
    for step in loop.steps(
        Task.of(best_recall, shape=shape, facts=facts, seeds=seeds, settings=settings),
        settings.capacity_steps,
        label,
        ended=lambda: bool(best.mean() >= settings.least_recall),
        parameters=tuple(parameters),
        optimiser=optimiser,
        schedule=schedule,
        streams=tuple(streams),
        best=best,
    ):
        batch = _all_facts(facts, streams)
        now = adamw_step(shape, frozen, parameters, optimiser, batch, target)
        schedule.step()
        loop.check_finite(now.loss, label, step)
        if step % settings.capacity_every == 0:  # of noise that no step has seen
            torch.maximum(best, now.right.double().mean(dim=1), out=best)
    return best.cpu().numpy()


def adamw_step(
    shape: Shape,
    frozen: Frozen,
    parameters: Parameters,
    optimiser: torch.optim.Optimizer,
    counts: Float[Tensor, "runs batch vocabulary"],
    target: Int[Tensor, "runs batch"],
) -> Scored:
    """One update of every run; what it scores on its batch before."""
    x = retrieved(shape, frozen, parameters, counts)
    now = scored(x, frozen.u, target)
    optimiser.zero_grad()
    x.backward(now.gradient)
    optimiser.step()
    return now


def _all_facts(
    facts: Facts, streams: list[torch.Generator]
) -> Float[Tensor, "runs facts vocabulary"]:
    """Every fact once, with noise of its own in every run."""
    return torch.stack([task.counts(facts, task.every_fact(facts, s)) for s in streams])


def capacity(
    shape: Shape, seeds: Sequence[int], guess: float, settings: Settings, device: torch.device
) -> Bracket:
    """The largest S + R at which the mean over runs of the best recall is high enough."""

    def holds(n: int) -> bool:
        facts = square(n, settings.answers, settings.length)
        best = best_recall(shape, facts, seeds, settings, device)
        return float(best.mean()) >= settings.least_recall

    return search(holds, guess, settings.capacity_tolerance, floor=4)


def facts_stored(bracket: Bracket, settings: Settings) -> float:
    """The number of facts S R between the last size that is stored and the first that is not."""
    sizes = (square(n, settings.answers, settings.length) for n in bracket)
    return math.prod(facts.subjects * facts.relations for facts in sizes) ** 0.5


class Exchange(NamedTuple):
    """Facts = per_attention (P_A + ratio P_M), and a confidence interval of the ratio."""

    per_attention: float
    ratio: float
    low: float
    high: float


def exchange(
    attention: Float[np.ndarray, " models"],
    mlp: Float[np.ndarray, " models"],
    facts: Float[np.ndarray, " models"],
    confidence: float = 0.95,
) -> Exchange:
    """What a parameter of the MLP is worth in parameters of attention, fitted on a log scale."""

    def law(parameters, log_worth, log_ratio):
        return log_worth + np.log(parameters[0] + np.exp(log_ratio) * parameters[1])

    start = (np.log(facts / (attention + mlp)).mean(), 0.0)
    found, covariance = curve_fit(law, np.stack([attention, mlp]), np.log(facts), start)
    half = stats.t.ppf((1 + confidence) / 2, len(facts) - 2) * covariance[1, 1] ** 0.5
    low, middle, high = np.exp([found[1] - half, found[1], found[1] + half])
    return Exchange(float(np.exp(found[0])), float(middle), float(low), float(high))
