"""Tests of the decorator that keeps the results of long analyses."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from emergence.running import cache
from emergence.running.memo import kept
from interruption import Memory, bits

calls: list[Any] = []


class Pair(NamedTuple):
    left: Tensor
    right: float | None


class Longer(NamedTuple):
    left: Tensor
    right: float
    more: list[int]


@dataclass(frozen=True)
class Whole:
    pairs: tuple[Pair, ...]
    table: dict[str, np.ndarray]
    counts: list[int]


@kept
def analyse(size: int, scale: float = 1.0) -> Whole:
    calls.append((size, scale, cache.is_inner()))
    pair = Pair(scale * torch.arange(size), None)
    return Whole((pair, Pair(torch.ones(1), 2.0)), {"a": np.eye(size)}, [size])


@kept
def applied(function: Callable[[float], float]) -> Longer:
    longer = Longer(torch.zeros(1), function(1.0), [len(calls)])
    calls.append(longer.right)
    return longer


def plus(amount: float) -> Callable[[float], float]:
    return lambda x: x + amount


@kept
def drawn(stream: torch.Generator) -> Tensor:
    return torch.randn(2, generator=stream)


@kept
def nameless(size: int) -> object:
    return size


def test_it_is_computed_once_for_each_argument_however_it_is_written() -> None:
    calls.clear()
    fresh = analyse(3)
    with cache.attached(Memory()):
        result = [analyse(3), analyse(size=3), analyse(3, scale=1.0)]
        analyse(4)
    assert calls == [(3, 1.0, False), (3, 1.0, True), (4, 1.0, True)]
    assert all(
        type(value) is Whole and bits(asdict(value)) == bits(asdict(fresh)) for value in result
    )


def test_a_result_that_its_annotation_does_not_describe_is_refused() -> None:
    assert nameless(3) == 3
    with cache.attached(Memory()), pytest.raises(TypeError, match="cannot be kept"):
        nameless(3)


def test_a_stream_goes_on_from_where_the_function_leaves_it() -> None:
    streams = [torch.Generator().manual_seed(0) for _ in range(3)]
    with cache.attached(Memory()):
        result = [torch.stack([drawn(stream), drawn(stream)]) for stream in streams[:2]]
    fresh = torch.randn(4, generator=streams[2]).view(2, 2)
    assert all(torch.equal(value, fresh) for value in result)


def test_what_takes_no_time_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Memory, "short", 60.0)
    calls.clear()
    with cache.attached(Memory()):
        analyse(3), analyse(3)
    assert len(calls) == 2


def test_functions_are_told_apart_by_what_they_have_taken() -> None:
    calls.clear()
    with cache.attached(Memory()):
        result = [applied(plus(amount)) for amount in (1.0, 2.0, 1.0)]
    assert [value.right for value in result] == [2.0, 3.0, 2.0]
    assert calls == [2.0, 3.0]
    assert [value.more for value in result] == [[0], [1], [0]]
    assert type(result[2]) is Longer
