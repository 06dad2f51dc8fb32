"""The state of a descent: what is kept of its parts, and how they get it back."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

Part = (
    Tensor
    | torch.Generator
    | torch.optim.Optimizer
    | torch.optim.lr_scheduler.LRScheduler
    | tuple["Part", ...]
    | list[Any]
)


def state(step: int, ended: bool, parts: dict[str, Part]) -> dict[str, Any]:
    """What there is to keep after so many steps."""
    # a result needs nothing that only a further step would need
    steppers = torch.optim.Optimizer | torch.optim.lr_scheduler.LRScheduler
    taken = {n: _taken(p) for n, p in parts.items() if not (ended and isinstance(p, steppers))}
    return {"step": step, "ended": ended, "parts": taken}


def leaves(parts: dict[str, Part]) -> list[Any]:
    """The parts, tuples of them taken apart."""
    items: list[Any] = list(parts.values())
    for part in items:
        if isinstance(part, tuple):
            items.extend(part)
    return items


def device_of(found: Sequence[Any]) -> str:
    """The device of the first tensor or stream."""
    return next((str(leaf.device) for leaf in found if hasattr(leaf, "device")), "cpu")


def _taken(part: Any) -> Any:
    if isinstance(part, torch.Generator):
        return part.get_state()
    if isinstance(part, torch.optim.Optimizer):
        return {
            "rates": [group["lr"] for group in part.param_groups],
            "moments": {str(i): dict(moments) for i, moments in part.state_dict()["state"].items()},
        }
    if isinstance(part, torch.optim.lr_scheduler.LRScheduler):
        return part.state_dict()
    if isinstance(part, tuple):
        return [_taken(item) for item in part]
    return _column(part) if isinstance(part, list) else part


def put_back(part: Part, kept: Any) -> None:
    if isinstance(part, Tensor):
        with torch.no_grad():
            part.copy_(torch.as_tensor(kept))
    elif isinstance(part, torch.Generator):
        part.set_state(torch.as_tensor(kept))
    elif isinstance(part, torch.optim.Optimizer):
        moments = {
            int(place): {name: _value(value) for name, value in moments_of.items()}
            for place, moments_of in kept["moments"].items()
        }
        rates = [group["lr"] for group in part.param_groups]  # which may be tensors
        part.load_state_dict(part.state_dict() | {"state": moments})
        for group, moments_of, rate in zip(part.param_groups, rates, kept["rates"], strict=True):
            group["lr"] = moments_of.fill_(float(rate)) if isinstance(moments_of, Tensor) else rate
    elif isinstance(part, torch.optim.lr_scheduler.LRScheduler):
        part.load_state_dict(kept)
    elif isinstance(part, tuple):
        for item, of_item in zip(part, kept, strict=True):
            put_back(item, of_item)
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
