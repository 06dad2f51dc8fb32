"""A cache of results and of states of long runs, which saves time and changes no result."""

import dataclasses
import functools
import hashlib
import inspect
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol, runtime_checkable

__all__ = ["Task", "attach", "attached", "current", "plain"]  # the rest is for who keeps results


@dataclasses.dataclass(frozen=True)
class Task:
    """What is computed, in this book: a function of a module at a configuration in plain values.

    Attributes:
        module: of the function.
        function: its qualified name.
        configuration: its arguments by name, as `plain` describes them.
        classes: module and qualified name of the classes of these: their code counts as well.
        conditions: what decides the last bits besides, in plain values.
    """

    module: str
    function: str
    configuration: Any
    classes: tuple[tuple[str, str], ...] = ()
    conditions: Any = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, function: Callable[..., Any], /, **configuration: Any) -> "Task":
        """The task of a function or of a partial of one; TypeError if it cannot be described."""
        # a partial stands for its function with the arguments that it binds by name
        if isinstance(function, partial) and not function.args:
            configuration = function.keywords | configuration
            function = function.func
        name = getattr(function, "__qualname__", repr(function))
        if "<" in name:
            raise TypeError(
                f"results can only be kept for functions of a module, and {name} is not one"
            )
        classes = tuple(sorted(set(_classes(configuration))))
        return cls(function.__module__, name, plain(configuration), classes)

    def under(self, **conditions: Any) -> "Task":
        """The same task under further conditions that decide its last bits."""
        return dataclasses.replace(self, conditions=self.conditions | plain(conditions))


@runtime_checkable
class Checkpoint(Protocol):
    """Where an interrupted computation goes on; what these methods do keeps nothing."""

    def load(self) -> dict[str, Any] | None:
        """The state offered last and kept, arrays in it as numpy arrays."""
        return None

    def offer(self, state: Callable[[], dict[str, Any]], *, ended: bool) -> None:
        """Offer to have a state kept; it is built only if it is wanted."""
        return


@runtime_checkable
class Cache(Protocol):
    """What a computation may ask and tell; what these methods do keeps nothing."""

    @property
    def short(self) -> float:
        """Seconds; what has taken less time need not be kept."""
        return 0.1

    @property
    def answers(self) -> int:
        """How often this process has been answered with something kept."""
        return 0

    def get(self, task: Task) -> Any:
        """The result of a task; KeyError where it is not known."""
        raise KeyError(task)

    def put(self, task: Task, result: Any) -> None:
        """Keep a result: arrays, numbers and texts, and lists and dicts of them."""
        return

    def checkpoint(self, task: Task) -> Checkpoint:
        """The place for states of a task."""
        return NoCheckpoint()


class NoCheckpoint(Checkpoint):
    """Keeps nothing."""


class NoCache(Cache):
    """Keeps nothing."""


NO_CACHE = NoCache()
_cache: Cache = NO_CACHE
_depth = 0


def current() -> Cache:
    """The cache of this process, or one that keeps nothing (this book's workshop chapter)."""
    return _cache


def attach(cache: Cache) -> None:
    """Use a cache from now on, as a handler is attached to a logger (this book).

    Args:
        cache: what keeps results and states.
    """
    global _cache
    _cache = cache


@contextmanager
def attached(cache: Cache) -> Iterator[None]:
    """Use a cache for a while (this book).

    Args:
        cache: what keeps results and states.
    """
    before = current()
    attach(cache)
    try:
        yield
    finally:
        attach(before)


@contextmanager
def inner() -> Iterator[None]:
    """Mark what a process computes for the result of a task: see `is_inner`."""
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


def is_inner() -> bool:
    """Whether what is asked of the cache now only serves to compute the result of another task."""
    return _depth > 0


def plain(value: Any) -> Any:
    """A configuration of this book in numbers, texts, lists and dicts.

    Tensors, arrays, streams and values with an attribute `sha256` become checksums. A function of a
    module becomes its name, its source and what it has taken from the functions around it.

    Args:
        value: of these types, a device or a type of numbers, or a dataclass of them.

    Raises:
        TypeError: for what has no such form.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    # without it there is no tensor, and importing it takes a while
    torch = sys.modules.get("torch")
    if torch and isinstance(value, torch.Tensor):
        bits = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
        shape = f"{value.dtype} {list(value.shape)}"
        return {"": shape, "sha256": hashlib.sha256(bits.numpy().data).hexdigest()}
    numpy = sys.modules.get("numpy")
    if numpy and isinstance(value, numpy.generic):
        return value.item()
    if numpy and isinstance(value, numpy.ndarray) and not value.dtype.hasobject:
        whole = numpy.ascontiguousarray(value)
        shape = f"{value.dtype} {list(value.shape)}"
        return {"": shape, "sha256": hashlib.sha256(whole.data).hexdigest()}
    if torch and isinstance(value, torch.device | torch.dtype):
        return str(value)
    if torch and isinstance(value, torch.Generator):
        return plain(value.get_state())
    if isinstance(getattr(value, "sha256", None), str):
        return {"": type(value).__qualname__, "sha256": value.sha256}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        named = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {"": type(value).__qualname__, **plain(named)}
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    if isinstance(value, types.FunctionType) and value.__module__ != "__main__":
        name, checksum = value.__qualname__, _source(value.__code__)
        return {"": name, "sha256": checksum, "taken": plain(_taken(value))}
    raise TypeError(f"a configuration cannot hold a {type(value).__name__}: {value!r}")


@functools.cache
def _source(code: types.CodeType) -> str:
    """A checksum of the source of a function; bytecode would depend on the version of Python."""
    return hashlib.sha256(inspect.getsource(code).encode()).hexdigest()


def _taken(function: types.FunctionType) -> list[Any]:
    """What a function has taken from those around it, and the defaults of its arguments."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return [*cells, function.__defaults__, function.__kwdefaults__]


def _classes(value: Any) -> Iterator[tuple[str, str]]:
    """The classes of the dataclasses in a configuration, and the functions."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield type(value).__module__, type(value).__qualname__
        parts: Iterable[Any] = [getattr(value, field.name) for field in dataclasses.fields(value)]
    elif isinstance(value, types.FunctionType):
        yield value.__module__, value.__qualname__
        parts = _taken(value)
    elif isinstance(value, Mapping):
        parts = value.values()
    else:
        parts = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    for part in parts:
        yield from _classes(part)
