"""Every verdict rule."""

import math
import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bookbuild.ledger.claims import SCHEMA
from bookbuild.reporting.expectations import Expectation, read_expectation
from bookbuild.reporting.measures import Measured, number
from bookbuild.schema import faults

ROW = {
    **{"id": "a", "source": "§1", "statement": "A claim.", "kind": "paper", "chapter": "paper/1"},
    **{"measure": "a", "why": "Because."},
}

numbers = st.floats(-1e6, 1e6)
pairs = st.tuples(numbers, numbers).map(sorted)
seeds = st.lists(numbers, min_size=1, max_size=6)


def expectations(form: str, low: float, high: float) -> Expectation:
    bounds = {"within": [low, high], "at_least": low, "at_most": high}
    return read_expectation({form: bounds[form]})


def admits(form: str, low: float, high: float, value: float) -> bool:
    return {
        "within": low <= value <= high,
        "at_least": value >= low,
        "at_most": value <= high,
    }[form]


forms = st.sampled_from(["within", "at_least", "at_most"])


@given(forms, pairs, seeds)
def test_seeds_that_disagree_reproduce_partly_and_a_number_does_or_not(
    form: str, bounds: list[float], values: list[float]
) -> None:
    fits = [admits(form, *bounds, x) for x in values]
    expected = "reproduced" if all(fits) else "partly" if any(fits) else "contradicted"
    expectation = expectations(form, *bounds)
    assert expectation.verdict(Measured(values, "seeds")) == expected
    single = expectation.verdict(Measured(values[0], None))
    assert single == ("reproduced" if fits[0] else "contradicted")
    assert expectation.share(Measured(values, "seeds")) == sum(fits) / len(fits)


@given(forms, pairs, pairs)
def test_an_interval_is_held_against_the_bounds(
    form: str, bounds: list[float], interval: list[float]
) -> None:
    low = -math.inf if form == "at_most" else bounds[0]
    high = math.inf if form == "at_least" else bounds[1]
    inside = low <= interval[0] and interval[1] <= high
    disjoint = interval[1] < low or interval[0] > high
    expected = "reproduced" if inside else "contradicted" if disjoint else "partly"
    assert expectations(form, *bounds).verdict(Measured(interval, "interval")) == expected


grids = st.dictionaries(st.text(min_size=1), numbers | seeds, min_size=1, max_size=5)


@given(forms, pairs, grids)
def test_settings_that_disagree_reproduce_partly(
    form: str, bounds: list[float], grid: dict[str, float | list[float]]
) -> None:
    lists = {name: value if isinstance(value, list) else [value] for name, value in grid.items()}
    fits = {name: [admits(form, *bounds, x) for x in values] for name, values in lists.items()}
    some = any(any(row) for row in fits.values())
    whole = all(all(row) for row in fits.values())
    expected = "reproduced" if whole else "partly" if some else "contradicted"
    expectation, measured = expectations(form, *bounds), Measured(grid, "settings")
    assert expectation.verdict(measured) == expected
    holding = expectation.holding(measured)
    assert holding is not None
    assert (holding.holds, holding.of) == (sum(all(row) for row in fits.values()), len(grid))
    assert set(holding.failing) == {name for name, row in fits.items() if not all(row)}


@pytest.mark.parametrize(
    "value",
    [
        {"within": [2, 1]},
        {"at_most": float("nan")},
        {"at_least": -math.inf},
        {"contains": "1e999"},
        {"at_most": 10**400},
    ],
)
def test_impossible_bounds_are_refused(value: Any) -> None:
    assert not faults([ROW | {"expect": value}], SCHEMA)
    with pytest.raises(ValueError, match=r"wrong way round|is not finite"):
        read_expectation(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_written_to_four_digits(x: float) -> None:
    assume(1e-300 < abs(x) < 1e308 or x == 0)
    text = number(x).translate(str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--⁰¹²³⁴⁵⁶⁷⁸⁹"))
    if power := re.fullmatch("(?:(.+) × )?10([-⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text):
        text = f"{power[1] or 1}e{power[2].translate(str.maketrans('⁰¹²³⁴⁵⁶⁷⁸⁹', '0123456789'))}"
    assert float(text) == pytest.approx(x, rel=1e-3)
