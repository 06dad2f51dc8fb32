"""The loop of every training, which reports progress, checks the loss, and resumes exactly."""

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import torch
from torch import Tensor

from . import cache, graphs, memo, progress, states
from .states import Part
from .stretches import Step, Stretches, lengths


def steps(
    total: int, label: str, *, ended: Callable[[], bool | Tensor] | None = None, **parts: Part
) -> Iterator[int]:
    """The steps that are left of a descent of this book, from the last state that was kept.

    States are kept within a function that is marked as `memo.resumable`. They belong to its
    arguments, to the start of the descent, to the device and to the number of threads.

    Args:
        total: number of steps, >= 0.
        label: what messages call the descent.
        ended: a function; training ends after a step at which it is true. None for never.
        parts: by name, all that a step changes and a later one, or the result, needs: tensors,
            streams, optimisers, schedulers and tuples of these, changed in place, and lists, which
            get rows of measurements.
    """
    checkpoint, first, over = _begin(parts)
    for step in range(first, total):
        if over:
            break
        yield step
        progress.log_step(label, step + 1, total)
        over = step + 1 == total or (ended is not None and bool(ended()))
        checkpoint.offer(partial(states.state, step + 1, over, parts), ended=over)


def descend(
    total: int,
    label: str,
    step: Step,
    *,
    rows: list[Any],
    every: int = 1,
    ended: Callable[[], bool | Tensor] | None = None,
    stops: Sequence[int] = (),
    at_stop: Callable[[int], None] | None = None,
    phase: Callable[[int], Hashable] | None = None,
    draw: Callable[[], tuple[Tensor, ...]] | None = None,
    **parts: Part,
) -> int:
    """A descent of this book whose step is work of its device alone: on a GPU it is recorded.

    Args:
        total, label, parts: as `steps` takes them.
        step: changes the parts in place; called with whether a row is wanted, with the phase if
            there are phases, and with the batch if there is `draw`. It returns the losses before
            its update and the row, a tuple of new tensors, or None. It reads no value, makes no
            tensor of numbers, and does the same at every step of a phase.
        rows: gets the number of the step and the row, at multiples of `every`.
        every: number of steps between rows, >= 1.
        ended: as `steps` takes it; once it is true it stays so.
        stops: numbers of updates, rising, after which `at_stop` is called with the number.
        at_stop: what is done there; it may read values, and change lists.
        phase: of a step, the same over long stretches.
        draw: makes the batch of a step, where that cannot be recorded.

    Returns:
        The number of updates that have been made.

    Raises:
        ArithmeticError: for losses not all finite.
    """
    parts["rows"] = rows
    leaves = states.leaves(parts)
    record = graphs.recorder(torch.device(states.device_of(leaves)))

    def given(at: int) -> tuple[Hashable, ...]:
        return () if phase is None else (phase(at),)

    def fitting(at: int) -> int:
        """Steps of the longest stretch that may begin here, 0 for none."""
        limit = min([total, *stops[bisect_right(stops, at) :][:1]])
        ends = [(n, at + n) for n in lengths(total, every, at)]
        fits = [n for n, end in ends if end <= limit and given(at) == given(end - 1)]
        return fits[0] if fits else 0

    # A GPU waits once a stretch. One in which a loss is not finite, or after which the descent
    # has ended, is put back and walked.
    with record.aside() if record else nullcontext():
        checkpoint, at, over = _begin(parts)
        stretches = Stretches(record, step, leaves, every, draw, label) if record else None
        walked = at  # the steps before this one are walked
        if at == 0 and at_stop and 0 in stops:
            at_stop(0)
        while at < total and not over:
            length = fitting(at) if stretches and at >= walked else 0
            replayed = stretches.run(at, length, given(at), ended) if stretches and length else None
            if replayed is None:
                walked = max(walked, at + length)
                losses, row = step(at % every == 0, *given(at), *(draw() if draw else ()))
                check_finite(losses, label, at)
                rows.extend([] if row is None else [(at, *row)])
            else:
                rows.extend(replayed)
            at += 1 if replayed is None else length
            if at_stop and at in stops:
                at_stop(at)
            progress.log_step(label, at, total)
            over = at == total
            if ended is not None and not over and (replayed is None or at in stops):
                over = bool(ended())
            checkpoint.offer(partial(states.state, at, over, parts), ended=over)
        if stretches:
            stretches.kinds.clear()  # the memory of a graph is large
    return at


def ever_rarer(steps: int) -> list[int]:
    """Steps at which this book looks at a training, ever fewer, 0 and the last among them.

    Args:
        steps: of the training, >= 0.
    """
    looks = [0]
    while looks[-1] < steps:  # each a twentieth later, if that is a step or more
        looks.append(min(steps, max(looks[-1] + 1, int(looks[-1] * 1.05))))
    return looks


def _begin(parts: dict[str, Part]) -> tuple[cache.Checkpoint, int, bool]:
    """The place for states, the number of the step to begin with, and whether there is none."""
    task = memo.next_loop()
    if task is None:
        return cache.NoCheckpoint(), 0, False
    leaves = states.leaves(parts)
    start = [part for part in leaves if isinstance(part, Tensor | torch.Generator)]
    task = task.under(start=start, device=states.device_of(start), threads=torch.get_num_threads())
    checkpoint = cache.current().checkpoint(task)
    state = checkpoint.load()
    if state is None:
        return checkpoint, 0, False
    for name, value in state["parts"].items():
        states.put_back(parts[name], value)
    return checkpoint, state["step"], state["ended"]


def check_finite(loss: Tensor | float, label: str, step: int) -> None:
    """Stop a descent of this book that diverges.

    Args:
        loss: one or several.
        label: what the message calls the descent.
        step: at which the loss was computed.

    Raises:
        ArithmeticError: for a loss, or losses, not all finite.
    """
    if not torch.isfinite(torch.as_tensor(loss)).all():
        raise ArithmeticError(f"{label}: the loss is not finite at step {step}")
