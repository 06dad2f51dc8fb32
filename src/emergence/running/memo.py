"""Long computations that a cache shortens: the decorators `kept` and `resumable`."""

import dataclasses
import functools
import inspect
import itertools
import sys
import time
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from . import cache
from .cache import Task

__all__ = ["kept", "resumable"]  # the rest is for the loop of a descent

P = ParamSpec("P")
R = TypeVar("R")
ASIDE = "device", "label", "callback"  # the device of its tensors counts, and the rest only tells

_tasks: ContextVar[Iterator[Task] | None] = ContextVar("_tasks", default=None)


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
    """

    @functools.wraps(function)
    def found(*args: P.args, **kwargs: P.kwargs) -> R:
        store = cache.current()
        if store is cache.NO_CACHE:
            return function(*args, **kwargs)
        arguments = _arguments(function, args, kwargs)
        task = Task.of(function, **arguments)
        streams = [argument for argument in arguments.values() if hasattr(argument, "get_state")]
        try:
            value, states = store.get(task)
        except KeyError:
            begun, answers = time.monotonic(), store.answers
            with cache.inner(), _loops_of(None):
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


def resumable(function: Callable[P, R]) -> Callable[P, R]:
    """Let the loops of a training resume, with the cache in use (this book's workshop).

    The states that `loop.steps` and `loop.descend` keep within it belong to the function and its
    arguments, except for the device, the label and the callback.

    Args:
        function: of a module, no generator, of arguments that `cache.plain` can describe.

    Returns:
        The same function. Without a cache it starts anew at each call.

    Raises:
        TypeError: for a generator; when called, for an argument of another type.

    Example:
        >>> @memo.resumable
        ... def count(steps: int) -> int:
        ...     return len(list(loop.steps(steps, "count")))
    """
    if inspect.isgeneratorfunction(function):
        raise TypeError(f"{function.__qualname__} is a generator, whose loops begin after its call")

    @functools.wraps(function)
    def resumed(*args: P.args, **kwargs: P.kwargs) -> R:
        task = None
        if cache.current() is not cache.NO_CACHE:  # checksums of arguments take their time
            arguments = _arguments(function, args, kwargs)
            task = Task.of(function, **{n: v for n, v in arguments.items() if n not in ASIDE})
        with _loops_of(task):
            return function(*args, **kwargs)

    return resumed


def next_loop() -> Task | None:
    """The task of the loop that begins now; None where no state of it is to be kept."""
    tasks = _tasks.get()
    return None if tasks is None else next(tasks)


@contextmanager
def _loops_of(task: Task | None) -> Iterator[None]:
    """Where loops keep the states of a task, or none."""
    token = _tasks.set(None if task is None else _numbered(task))
    try:
        yield
    finally:
        _tasks.reset(token)


def _numbered(task: Task) -> Iterator[Task]:
    """The task of the first loop of a call, of the second, and so on."""
    yield task  # published results are found by configuration, not by conditions
    for number in itertools.count(1):
        configuration = task.configuration | {"loop": number}
        yield dataclasses.replace(task, configuration=configuration)


def _arguments(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of a call by name, defaults among them."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


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
