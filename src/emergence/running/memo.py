"""Long analyses whose results are kept like those of trainings: the decorator `kept`."""

import dataclasses
import functools
import inspect
import sys
import time
import types
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from . import cache
from .cache import Task

P = ParamSpec("P")
R = TypeVar("R")


def kept(function: Callable[P, R]) -> Callable[P, R]:
    """Keep the results of a function of a module in the cache in use (this book's workshop).

    Args:
        function: of arguments that `cache.plain` can describe; streams of random numbers go on from
            where it leaves them. Its annotation names what it returns: tensors on a processor,
            arrays, numbers, texts, None, and lists, tuples, named tuples, dataclasses and mappings
            from texts of them.

    Returns:
        The same function. Without a cache it computes anew at each call.

    Raises:
        TypeError: when called, for an argument or a result of another type.

    Example:
        >>> from emergence.running.memo import kept
        >>> @kept
        ... def square(x: float) -> float:
        ...     return x * x
        >>> square(3.0)
        9.0
    """

    @functools.wraps(function)
    def found(*args: P.args, **kwargs: P.kwargs) -> R:
        store = cache.current()
        if store is cache.NO_CACHE:
            return function(*args, **kwargs)
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        task = Task.of(function, **bound.arguments)
        streams = [
            argument for argument in bound.arguments.values() if hasattr(argument, "get_state")
        ]
        try:
            value, states = store.get(task)
        except KeyError:
            begun, answers = time.monotonic(), store.answers
            with cache.inner():
                value = _taken_apart(function(*args, **kwargs))
            states = [stream.get_state().numpy() for stream in streams]
            # without what was kept for its parts it might have taken long
            if time.monotonic() - begun >= store.short or store.answers > answers:
                store.put(task, [value, states])
        for stream, state in zip(streams, states, strict=True):
            stream.set_state(sys.modules["torch"].as_tensor(state))
        result: R = _put_together(get_type_hints(function)["return"], value)
        return result

    return found


def _taken_apart(value: Any) -> Any:
    """A result in lists, dicts, arrays, numbers and texts."""
    if hasattr(value, "detach"):
        return value.detach().cpu().numpy()
    if isinstance(value, list | tuple):
        return [_taken_apart(item) for item in value]
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: _taken_apart(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {name: _taken_apart(item) for name, item in value.items()}
    return value


def _put_together(hint: Any, value: Any) -> Any:
    """What `_taken_apart` took apart, by the hint of its type; TypeError for others."""
    kind: Any = get_origin(hint) or hint
    inner = get_args(hint)
    if kind in (Union, types.UnionType):  # something, or None
        (some,) = (inner_hint for inner_hint in inner if inner_hint is not types.NoneType)
        return None if value is None else _put_together(some, value)
    array = getattr(kind, "array_type", kind)  # as jaxtyping names the class
    torch = sys.modules.get("torch")  # without it there is no tensor, and importing it takes long
    if torch and issubclass(array, torch.Tensor):
        return torch.as_tensor(value)
    if dataclasses.is_dataclass(kind):
        hints, make = get_type_hints(kind), cast(Any, kind)
        return make(**{name: _put_together(hints[name], item) for name, item in value.items()})
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        hints = get_type_hints(kind)
        pairs = zip(kind._fields, value, strict=True)
        return kind(*(_put_together(hints[name], item) for name, item in pairs))
    if kind is tuple:
        each = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        return tuple(_put_together(h, item) for h, item in zip(each, value, strict=True))
    if issubclass(kind, list):
        return [_put_together(inner[0], item) for item in value]
    if issubclass(kind, Mapping):
        return {name: _put_together(inner[1], item) for name, item in value.items()}
    if issubclass(array, np.ndarray | bool | int | float | str):
        return value
    raise TypeError(f"a result of type {hint} cannot be kept")
