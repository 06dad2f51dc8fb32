"""Where two results differ, in their numbers and in their form."""

import numpy as np
import pytest

from bookbuild.results.contents import different, different_form


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
    assert different({"a b": 1.0, "a": {"b": 2.0}}, {"a b": 1.0, "a": {"b": 3.0}}, 0.1) != []


def test_a_small_number_is_not_hidden_by_a_large_one_of_its_array() -> None:
    before = np.array([100.0, 2.0, 0.001])
    assert different(before, np.array([100.0, 2.1, 0.001]), 0.01) != []
    assert different(before, np.array([100.0, 2.0, 0.00105]), 0.01) == []


@pytest.mark.parametrize("other", [1, True, np.float64(1), np.ones(()), np.ones(1), [1.0], None])
def test_another_type_or_shape_is_another_form(other: object) -> None:
    assert different_form({"a": 1.0}, {"a": 2.0}) == []
    assert len(different_form({"a": 1.0}, {"a": other})) >= 1
    assert different_form({"a": 1, "b": 1}, {"b": 1, "a": 1}) == ["in another order"]
