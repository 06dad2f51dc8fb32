"""What is known already? Long computations ask whoever runs them; alone, they remember nothing.

A memory must not change a result, only save the time of computing it again.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

from .progress import steps as counted


@dataclasses.dataclass(frozen=True)
class Task:
    """What is computed: a function of a module, and its configuration in plain values."""

    module: str
    function: str
    configuration: Any

    @classmethod
    def of(cls, function: Callable[..., Any], configuration: Any) -> "Task":
        """The task of applying a module's function; TypeError if it cannot be described."""
        name = function.__qualname__
        if "<" in name:
            raise TypeError(f"a result is kept for functions of a module only, not for {name}")
        return cls(function.__module__, name, plain(configuration))


@runtime_checkable
class Checkpoint(Protocol):
    """Where an interrupted computation goes on."""

    def load(self) -> dict[str, Any] | None:
        """The state offered last and kept, arrays in it as numpy arrays."""

    def offer(self, state: Callable[[], dict[str, Any]], *, ended: bool) -> None:
        """Offer to have a state kept; it is built only if it is wanted."""


@runtime_checkable
class Memory(Protocol):
    """What a computation may ask and tell."""

    def recall(self, task: Task) -> Any:
        """The result of a task; KeyError where it is not known."""

    def keep(self, task: Task, result: Any) -> None:
        """Remember a result: arrays, numbers and texts, and lists and dicts of them."""

    def checkpoint(self, task: Task) -> Checkpoint:
        """The place for states of a task."""


class Forgetful:
    """The memory of a computation that nobody watches."""

    def recall(self, task: Task) -> Any:
        raise KeyError(task)

    def keep(self, task: Task, result: Any) -> None:
        pass

    def checkpoint(self, task: Task) -> Checkpoint:
        return self  # type: ignore[return-value]

    def load(self) -> None:
        return None

    def offer(self, state: Callable[[], dict[str, Any]], *, ended: bool) -> None:
        pass


NOTHING = Forgetful()
_memory: Memory = NOTHING


def current() -> Memory:
    """The memory in use."""
    return _memory


def attach(memory: Memory) -> None:
    """Use this memory from now on, as one attaches a handler to a logger."""
    global _memory
    _memory = memory


@contextmanager
def attached(memory: Memory) -> Iterator[None]:
    """Use a memory for a while."""
    before = current()
    attach(memory)
    try:
        yield
    finally:
        attach(before)


@runtime_checkable
class Resumable(Protocol):
    """A computation in steps that can be put down and taken up again between any two."""

    step: int
    ended: bool

    def advance(self) -> None:
        """Take one step."""

    def state(self) -> dict[str, Any]:
        """All that the next step depends on, and all that the result will need."""

    def restore(self, state: dict[str, Any]) -> None:
        """Go back to a state."""


def go_through(run: Resumable, task: Task, *, total: int, label: str) -> None:
    """Take the steps that are left, from the last state that the memory kept."""
    checkpoint = current().checkpoint(task)
    state = checkpoint.load()
    if state is not None:
        run.restore(state)
    for _ in counted(label, total, first=run.step):
        if run.ended:
            break
        run.advance()
        checkpoint.offer(run.state, ended=run.ended)


def plain(value: Any) -> Any:
    """A configuration in numbers, texts, lists and dicts; TypeError for what has no such form."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        named = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {"": type(value).__qualname__, **plain(named)}
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    raise TypeError(f"a configuration cannot hold a {type(value).__name__}: {value!r}")
