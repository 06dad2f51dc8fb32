"""Tests of the decorator that keeps the results of long analyses."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from running import cache
from running.cache import Cache, Task
from running.memo import kept

calls: list[Any] = []


class Pair(NamedTuple):
    left: Tensor
    right: float | None


@dataclass(frozen=True)
class Whole:
    pairs: tuple[Pair, ...]
    table: dict[str, np.ndarray]
    counts: list[int]


class Memory(Cache):
    """A cache in main memory."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def get(self, task: Task) -> Any:
        return self.known[repr(task)]

    def put(self, task: Task, result: Any) -> None:
        self.known[repr(task)] = result


@kept
def analyse(size: int, scale: float = 1.0) -> Whole:
    calls.append((size, scale, cache.is_inner()))
    pair = Pair(scale * torch.arange(size), None)
    return Whole((pair, Pair(torch.ones(1), 2.0)), {"a": np.eye(size)}, [size])


@kept
def nameless(size: int) -> object:
    return size


def equal(one: Whole, other: Whole) -> bool:
    return (
        all(torch.equal(a.left, b.left) for a, b in zip(one.pairs, other.pairs, strict=True))
        and [p.right for p in one.pairs] == [p.right for p in other.pairs]
        and bool((one.table["a"] == other.table["a"]).all())
        and one.counts == other.counts
    )


def test_it_is_computed_once_for_each_argument_however_it_is_written() -> None:
    calls.clear()
    fresh = analyse(3)
    with cache.attached(Memory()):
        found = [analyse(3), analyse(size=3), analyse(3, scale=1.0)]
        analyse(4)
    assert calls == [(3, 1.0, False), (3, 1.0, True), (4, 1.0, True)]
    assert all(type(one) is Whole and equal(one, fresh) for one in found)


def test_a_result_that_its_annotation_does_not_describe_is_refused() -> None:
    assert nameless(3) == 3
    with cache.attached(Memory()), pytest.raises(TypeError, match="cannot be kept"):
        nameless(3)
