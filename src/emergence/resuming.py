"""Loops of descent that go on where they were interrupted, to the same bits."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from . import memory
from .progress import steps as counted

Part = Tensor | torch.Generator | torch.optim.Optimizer | tuple["Part", ...] | list[Any]


def steps(
    function: Callable[..., Any], label: str, total: int, configuration: Any, **parts: Part
) -> Iterator[int]:
    """The steps that are left of a loop of this function, from the last state that was kept.

    The parts are all that a step changes and a later one, or the result, needs. Tensors, streams,
    optimisers and tuples of these are put back in place; a list holds what was measured, with
    tensors in main memory, and gets its rows back. How many threads add up products decides the
    last bits, so another number of them begins anew.
    """
    threads = torch.get_num_threads()
    task = memory.Task.of(function, {"configuration": configuration, "threads": threads})
    checkpoint = memory.current().checkpoint(task)
    state = checkpoint.load()
    first = 0
    if state is not None:
        first = state["step"]
        for name, part in parts.items():
            _put_back(part, state[name])
    for step in counted(label, total, first=first):
        yield step
        checkpoint.offer(
            lambda step=step: {"step": step + 1, **{n: _taken(p) for n, p in parts.items()}},
            ended=step + 1 == total,
        )


def _taken(part: Any) -> Any:
    """What there is to keep of a part, or of a row of measurements."""
    if isinstance(part, torch.Generator):
        return part.get_state()
    if isinstance(part, torch.optim.Optimizer):
        moments = part.state_dict()["state"]
        return {str(place): dict(values) for place, values in moments.items()}
    if isinstance(part, tuple | list):
        return [_taken(item) for item in part]
    return part


def _put_back(part: Part, kept: Any) -> None:
    if isinstance(part, Tensor):
        with torch.no_grad():
            part.copy_(torch.tensor(kept))
    elif isinstance(part, torch.Generator):
        part.set_state(torch.tensor(kept))
    elif isinstance(part, torch.optim.Optimizer):
        moments = {
            int(place): {name: _row(value) for name, value in values.items()}
            for place, values in kept.items()
        }
        part.load_state_dict(part.state_dict() | {"state": moments})
    elif isinstance(part, tuple):
        for item, of_item in zip(part, kept, strict=True):
            _put_back(item, of_item)
    else:
        part[:] = map(_row, kept)


def _row(kept: Any) -> Any:
    """A row as it was, with tuples for lists and tensors for arrays."""
    if isinstance(kept, list):
        return tuple(map(_row, kept))
    return torch.tensor(kept) if hasattr(kept, "dtype") else kept
