"""The loop of every descent: told, checked, and resumed to the same bits when interrupted."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from . import cache, progress
from .cache import Task

Part = (
    Tensor
    | torch.Generator
    | torch.optim.Optimizer
    | torch.optim.lr_scheduler.LRScheduler
    | tuple["Part", ...]
    | list[Any]
)


def steps(
    task: Task,
    total: int,
    label: str,
    *,
    ended: Callable[[], bool] | None = None,
    **parts: Part,
) -> Iterator[int]:
    """The steps that are left of a descent of this book, from the last state that was kept.

    The parts are all that a step changes and a later one, or the result, needs. Tensors, streams,
    optimisers, schedulers and tuples of these are changed in place, and put back in place; a list
    holds rows of measurements and gets them back, tensors in main memory. After the last step the
    state is kept as the result, without what only a further step would need: optimisers and
    schedulers.

    The tensors and streams that a descent starts from belong to its task, and so do the device and
    the number of threads, which decide how products are rounded.

    Args:
        task: what is computed.
        total: number of steps, >= 0.
        label: what messages call the descent.
        ended: after a step at which it is true there is no other; None for never.
        parts: by name, what goes on.

    Returns:
        The numbers of the steps, from 0 or from where an earlier descent was interrupted.

    Example:
        >>> list(loop.steps(cache.Task("here", "descent", {}), 3, "descent"))
        [0, 1, 2]
    """
    if cache.current() is not cache.NO_CACHE:
        start = [part for part in _leaves(parts) if isinstance(part, Tensor | torch.Generator)]
        threads = torch.get_num_threads()
        task = task.under(start=start, device=_device(start), threads=threads)
    checkpoint = cache.current().checkpoint(task)
    state = checkpoint.load()
    first, over = 0, False
    if state is not None:
        first, over = state["step"], state["ended"]
        for name, kept in state["parts"].items():
            _put_back(parts[name], kept)
    for step in range(first, total):
        if over:
            break
        yield step
        progress.tell(label, step + 1, total)
        over = step + 1 == total or (ended is not None and ended())
        checkpoint.offer(partial(_state, step + 1, over, parts), ended=over)


def check_finite(loss: Tensor | float, label: str, step: int) -> None:
    """Stop a descent of this book that diverges.

    Args:
        loss: one or several.
        label: what the message calls the descent.
        step: at which the loss was computed.

    Returns:
        Nothing.

    Raises:
        ArithmeticError: for a loss, or losses, not all finite.

    Example:
        >>> loop.check_finite(torch.tensor([1.0, 2.0]), "descent", 3)
    """
    if not torch.isfinite(torch.as_tensor(loss)).all():
        raise ArithmeticError(f"{label}: the loss is not finite at step {step}")


def _state(step: int, ended: bool, parts: dict[str, Part]) -> dict[str, Any]:
    """What there is to keep after so many steps."""
    steppers = torch.optim.Optimizer | torch.optim.lr_scheduler.LRScheduler
    kept = {n: _taken(p) for n, p in parts.items() if not (ended and isinstance(p, steppers))}
    return {"step": step, "ended": ended, "parts": kept}


def _leaves(parts: dict[str, Part]) -> list[Any]:
    """The parts, tuples of them taken apart."""
    found: list[Any] = list(parts.values())
    for part in found:
        if isinstance(part, tuple):
            found.extend(part)
    return found


def _device(start: Sequence[Tensor | torch.Generator]) -> str:
    """The device of the first tensor or stream."""
    return str(start[0].device) if start else "cpu"


def _taken(part: Any) -> Any:
    """What there is to keep of a part."""
    if isinstance(part, torch.Generator):
        return part.get_state()
    if isinstance(part, torch.optim.Optimizer):
        return {
            "rates": [group["lr"] for group in part.param_groups],
            "moments": {str(i): dict(own) for i, own in part.state_dict()["state"].items()},
        }
    if isinstance(part, torch.optim.lr_scheduler.LRScheduler):
        return part.state_dict()
    if isinstance(part, tuple):
        return [_taken(item) for item in part]
    return _column(part) if isinstance(part, list) else part


def _put_back(part: Part, kept: Any) -> None:
    if isinstance(part, Tensor):
        with torch.no_grad():
            part.copy_(torch.as_tensor(kept))
    elif isinstance(part, torch.Generator):
        part.set_state(torch.as_tensor(kept))
    elif isinstance(part, torch.optim.Optimizer):
        moments = {
            int(place): {name: _value(value) for name, value in own.items()}
            for place, own in kept["moments"].items()
        }
        part.load_state_dict(part.state_dict() | {"state": moments})
        for group, rate in zip(part.param_groups, kept["rates"], strict=True):
            group["lr"] = rate
    elif isinstance(part, torch.optim.lr_scheduler.LRScheduler):
        part.load_state_dict(kept)
    elif isinstance(part, tuple):
        for item, of_item in zip(part, kept, strict=True):
            _put_back(item, of_item)
    else:
        part[:] = _rows(kept)


def _column(values: Sequence[Any]) -> Any:
    """Values in a row: tensors of one shape as one array, rows of one length by columns."""
    if _alike(values, Tensor, lambda value: (value.shape, value.dtype)):
        return {
            "stack": torch.stack([value.cpu() for value in values])
        }  # old rows lie there already
    if _alike(values, list | tuple, len):  # they come back as plain tuples
        return {"columns": [_column(column) for column in zip(*values, strict=True)]}
    return {"list": [_column(v) if isinstance(v, list | tuple) else v for v in values]}


def _alike(values: Sequence[Any], kind: Any, form: Callable[[Any], Any]) -> bool:
    """Whether there are values, all of this kind and of one form."""
    return all(isinstance(value, kind) for value in values) and len(set(map(form, values))) == 1


def _rows(kept: dict[str, Any]) -> list[Any]:
    """The values that `_column` took apart."""
    ((kind, content),) = kept.items()
    if kind == "stack":
        return list(torch.tensor(content).unbind())
    if kind == "columns":
        return list(zip(*map(_rows, content), strict=True))
    return [tuple(_rows(v)) if isinstance(v, dict) else _value(v) for v in content]


def _value(kept: Any) -> Any:
    """A value as it was, with tensors for arrays."""
    return torch.tensor(kept) if hasattr(kept, "dtype") else kept
