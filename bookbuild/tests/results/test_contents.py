"""Where two results differ, and what of a change is seen."""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from bookbuild.results.contents import CHANGE, different, numbers_of, seen, with_numbers
from toy_book import LINE, SQUARE, Toy

RESULT = {
    "measures": {"slope": np.array([2.0, -1e-9, 0.0]), "steps": 7.0, "never": float("inf")},
    "figures": {"a": [np.linspace(-1, 1, 9), [np.ones(2), np.eye(3)]]},
    "tasks": {"weights": np.array([[1e3, 1.0], [20.0, float("nan")]]), "z": np.array([1j, 2.0])},
}


def test_differences_are_found_at_their_place() -> None:
    before = {"a": {"b": [1.0, 2.0, float("nan")]}, "c": 1}
    assert different(before, {"a": {"b": [1.0, 2.0, float("nan")]}, "c": 1}, 0.0) == []
    after = {"a": {"b": [1.0, 2.01, float("nan")]}, "d": 1}
    assert different(before, after, 0.0) == [
        "a b: 2 as published, 2.01 here",
        "c: only as published",
        "d: only here",
    ]
    assert different(before["a"], after["a"], 0.01) == []
    assert different([1.0], [1.0, 2.0], 0.0) == [": of shape (1,) as published, (2,) here"]
    assert different([float("inf")], [1.0], 0.5) != []
    assert different([1.0], [float("nan")], 0.5) != []
    assert different(["x"], ["y"], 0.5) != []
    assert different({"a": [[1.0], [1.0, 2.0]]}, {"a": [[1.0], [1.0, 3.0]]}, 0.1) != []


def test_a_small_number_is_not_hidden_by_a_large_one_of_its_array() -> None:
    before = np.array([100.0, 2.0, 0.001])
    assert different(before, np.array([100.0, 2.1, 0.001]), 0.01) != []
    assert different(before, np.array([100.0, 2.0, 0.00105]), 0.01) == []


@pytest.mark.parametrize("tolerance", [0.0, 0.01])
def test_the_share_that_is_said_to_be_seen_is_seen(tolerance: float) -> None:
    result = there = 0
    for change in every_change(RESULT):
        there += 1
        result += bool(different(RESULT, change, tolerance))
    assert (result, there) == seen(RESULT, tolerance)
    assert result == there if tolerance == 0 else 0 < result < there


def every_change(result: Any) -> Iterator[Any]:
    """The result with each of its numbers changed by 2% in turn, those that are not 0."""
    if isinstance(result, dict | list):
        for name in result if isinstance(result, dict) else range(len(result)):
            for changed in every_change(result[name]):
                whole = copy.copy(result)
                whole[name] = changed
                yield whole
        return
    for at in np.ndindex(np.shape(result)):
        changed = np.array(result)
        changed[at] = changed[at] * (1 + CHANGE)
        if np.isfinite(changed[at]) and changed[at] != 0:
            yield changed


def test_the_numbers_of_a_chapter_are_put_back_where_they_belong(toy: Toy) -> None:
    for name in (LINE, SQUARE):
        entry = toy.entry(name)
        numbers = numbers_of(entry)
        assert with_numbers(entry.measures, numbers) == entry.measures
    assert [len(arrays) for arrays in numbers["figures"].values()] == [1]
    over = {"m": {"value": {"a": [1.0, 2.0], "b": True}, "over": "settings"}}
    assert with_numbers(over, {"measures": {"m": [np.array([3.0, 4.0]), False]}}) == {
        "m": {"value": {"a": [3.0, 4.0], "b": False}, "over": "settings"}
    }
    with pytest.raises(TypeError, match="not iterable"):
        with_numbers(over, {"measures": {"m": [1.0]}})
