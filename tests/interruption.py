"""Caches for tests, one of which interrupts, and the check that a run goes on to the same bits."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
import torch

from emergence.running import cache


class Killed(Exception):
    """What ends a run here."""


class Memory(cache.Cache):
    """A cache in main memory."""

    short = 0.0

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def get(self, task):
        return self.known[repr(task)]

    def put(self, task, result):
        self.known[repr(task)] = result


class Interrupting(cache.Cache, cache.Checkpoint):
    """A cache that keeps every state, as numpy arrays, and kills the run after some of them.

    The last one before the kill may be lost.
    """

    def __init__(self, kill_after: int, lost: bool = False) -> None:
        self.kill_after, self.lost, self.offers = kill_after, lost, 0
        self.states: list[Any] = []
        self.tasks: list[Any] = []

    def checkpoint(self, task):
        self.tasks.append(task)
        return self

    def load(self):
        return self.states[-1] if self.states else None

    def offer(self, state, *, ended):
        self.states.append(_arrays(state()))
        self.offers += 1
        if self.offers == self.kill_after:
            if self.lost:
                self.states.pop()
            raise Killed


class Apart(Memory):
    """A cache in main memory that keeps the states of each task, and kills after some of them."""

    def __init__(self, kill_after: int = -1) -> None:
        super().__init__()
        self.kill_after, self.offers, self.tasks = kill_after, 0, []

    def checkpoint(self, task):
        return Place(self, task)


class Place(cache.Checkpoint):
    """The place for states of one task."""

    def __init__(self, store: Apart, task: Any) -> None:
        self.store, self.task = store, task

    def load(self):
        return self.store.known.get(repr(self.task))

    def offer(self, state, *, ended):
        self.store.known[repr(self.task)] = _arrays(state())
        self.store.offers += 1
        if self.task not in self.store.tasks:
            self.store.tasks.append(self.task)
        if self.store.offers == self.store.kill_after:
            raise Killed


def assert_resumes(
    run: Callable[[], Any], kill_after: int, *, ends_early: bool = False, stretches: bool = False
) -> None:
    """Assert that a run killed after so many states, and one that has ended, give the same bits.

    One that `ends_early` may have ended before it could be killed. With `stretches` it offers no
    state for every step, and is killed in the midst of one.
    """
    undisturbed = bits(run())
    interrupting = Interrupting(kill_after, lost=stretches)
    with cache.attached(interrupting):
        with suppress(Killed) if ends_early else pytest.raises(Killed):
            run()
        assert bits(run()) == undisturbed
        assert bits(run()) == undisturbed  # from its last state
    steps = [state["step"] for state in interrupting.states]
    assert steps == (sorted(set(steps)) if stretches else list(range(1, len(steps) + 1)))
    assert kill_after < len(steps) or ends_early
    assert len(set(map(repr, interrupting.tasks))) == 1


def bits(value: Any) -> Any:
    """A result, arrays by their bytes: NaN is equal to itself."""
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu().numpy()
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, torch.nn.Module):
        value = dict(value.state_dict())
    if isinstance(value, Mapping):
        return {name: bits(item) for name, item in value.items()}
    return [bits(item) for item in value] if isinstance(value, list | tuple) else value


def _arrays(value: Any) -> Any:
    """A state as a store would give it back."""
    if isinstance(value, dict):
        return {name: _arrays(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_arrays(item) for item in value]
    return value.detach().cpu().numpy().copy() if isinstance(value, torch.Tensor) else value
