"""The loop of the chapter's own trainings: Adam at a constant rate on losses of several runs."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import cross_entropy

from chapters.companions.retrieval.model import Parameters
from chapters.companions.retrieval.task import Batch
from running import loop
from running.cache import Task

Row = tuple[Any, ...]  # a step, and what was measured after it


def learn(
    task: Task,
    limit: int,
    parameters: Parameters,
    streams: Sequence[torch.Generator],
    *,
    losses: Callable[[int], Float[Tensor, " runs"]],
    rate: Callable[[int], float],
    record: Callable[[int], Row],
    every: int,
    ended: Callable[[Row], bool],
    label: str,
) -> list[Row]:
    """Train in place until `ended` holds of the last row, or to the limit; return the rows.

    Args:
        task: what is computed, for the cache.
        limit: steps at most.
        parameters: of all runs.
        streams: that contexts are drawn from.
        losses: of each run, on contexts drawn for a step.
        rate: the learning rate of a step.
        record: the row after so many steps; the first is before any.
        every: steps between rows; another one comes at the limit.
        ended: whether a row is the last.
        label: what messages call the training.

    Raises:
        ArithmeticError: where a run diverges.
    """
    optimiser = torch.optim.Adam(parameters.tensors(), fused=True)
    rows = [record(0)]
    for step in loop.steps(
        task,
        limit,
        label,
        ended=lambda: ended(rows[-1]),
        parameters=tuple(parameters.tensors()),
        optimiser=optimiser,
        streams=tuple(streams),
        rows=rows,
    ):
        for group in optimiser.param_groups:
            group["lr"] = rate(step)
        loss = losses(step)
        optimiser.zero_grad()
        loss.sum().backward()
        optimiser.step()
        loop.check_finite(loss.detach(), label, step)
        if (step + 1) % every == 0 or step + 1 == limit:
            rows.append(record(step + 1))
    return rows


def mean_losses(
    logits: Float[Tensor, "runs batch chains vocabulary"], batch: Batch
) -> Float[Tensor, " runs"]:
    """The mean cross-entropy of each run's answers."""
    each = cross_entropy(logits.flatten(0, 2), batch.target.flatten(), reduction="none")
    return each.view_as(batch.target).mean(dim=(1, 2))


def stacked(rows: Sequence[Row]) -> tuple[Any, ...]:
    """The steps, and what was measured after them, runs first."""
    moments, *series = zip(*rows, strict=True)
    return (moments, *(torch.stack(each, dim=1).numpy() for each in series))
