"""Every verdict rule."""

import math
import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bookbuild.ledger.claims import SCHEMA
from bookbuild.reporting.expectations import Expectation, Measured, number, read_expectation
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


@given(forms, pairs, numbers)
def test_a_number_is_reproduced_or_contradicted(form: str, bounds: list[float], x: float) -> None:
    verdict = expectations(form, *bounds).verdict(Measured(x, None))
    assert verdict == ("reproduced" if admits(form, *bounds, x) else "contradicted")


@given(forms, pairs, seeds)
def test_seeds_that_disagree_reproduce_partly(
    form: str, bounds: list[float], values: list[float]
) -> None:
    good = sum(admits(form, *bounds, x) for x in values)
    expected = {0: "contradicted", len(values): "reproduced"}.get(good, "partly")
    assert expectations(form, *bounds).verdict(Measured(values, "seeds")) == expected


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
    ("grid", "verdict", "told"),
    [
        ({"a": True, "b": [True, True]}, "reproduced", "holds in 2 of 2 settings"),
        ({"a": True, "b": [True, False]}, "partly", "holds in 1 of 2 settings"),
        ({"a": [True, False], "b": [False, True]}, "partly", "holds in 0 of 2 settings"),
        ({"a": False, "b": [False]}, "contradicted", "holds in 0 of 2 settings"),
    ],
)
def test_a_setting_counts_when_every_seed_of_it_holds(
    grid: dict[str, bool | list[bool]], verdict: str, told: str
) -> None:
    expectation, measured = read_expectation({"holds": True}), Measured(grid, "settings")
    assert expectation.verdict(measured) == verdict
    assert str(expectation.holding(measured)) == told


@given(pairs, numbers)
def test_an_interval_contains_a_number_or_not(interval: list[float], x: float) -> None:
    verdict = read_expectation({"contains": x}).verdict(Measured(interval, "interval"))
    assert verdict == ("reproduced" if interval[0] <= x <= interval[1] else "contradicted")


@pytest.mark.parametrize(("value", "verdict"), [(True, "reproduced"), (False, "contradicted")])
def test_a_truth_value_holds_or_not(value: bool, verdict: str) -> None:
    assert read_expectation({"holds": True}).verdict(Measured(value, None)) == verdict


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"within": [1, 2], "at_least": 1},
        {"near": 1},
        {"within": 1},
        {"within": [1]},
        {"at_least": "many"},
        {"at_least": True},
        {"at_least": "1e-3 "},
        {"holds": False},
        {"holds": 1},
        {"within": [1, None]},
    ],
)
def test_the_schema_refuses_a_malformed_expectation(value: object) -> None:
    (fault,) = faults([ROW | {"expect": value}], SCHEMA, depth=1)
    assert fault.path[:2] == (0, "expect")
    assert "'expect" in fault.clause


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


@pytest.mark.parametrize("text", ["1e-3", "-2", "+1.5E+3", ".5", "7."])
def test_a_number_that_yaml_takes_for_a_text_is_read(text: str) -> None:
    expect: Any = {"at_most": text}
    assert not faults([ROW | {"expect": expect}], SCHEMA)
    assert read_expectation(expect) == Expectation("at_most", high=float(text))


@pytest.mark.parametrize(
    ("form", "measured", "fits"),
    [
        ("holds", Measured(1.0, None), False),
        ("holds", Measured(True, None), True),
        ("contains", Measured([1.0, 2.0], "seeds"), False),
        ("contains", Measured([1.0, 2.0], "interval"), True),
        ("contains", Measured({"a": 1.0}, "settings"), False),
        ("holds", Measured({"a": True, "b": [True, False]}, "settings"), True),
        ("holds", Measured({"a": 1.0}, "settings"), False),
        ("within", Measured({"a": True}, "settings"), False),
        ("within", Measured({"a": 1.0, "b": [1.0, 2.0]}, "settings"), True),
    ],
)
def test_an_expectation_fits_only_its_kind_of_measure(
    form: str, measured: Measured, fits: bool
) -> None:
    bound = {"holds": True, "within": [0, 1]}.get(form, 1)
    assert (read_expectation({form: bound}).misfit(measured) == "") is fits


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_written_to_four_digits(x: float) -> None:
    assume(1e-300 < abs(x) < 1e308 or x == 0)
    text = number(x).translate(str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--⁰¹²³⁴⁵⁶⁷⁸⁹"))
    if power := re.fullmatch("(?:(.+) × )?10([-⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text):
        text = f"{power[1] or 1}e{power[2].translate(str.maketrans('⁰¹²³⁴⁵⁶⁷⁸⁹', '0123456789'))}"
    assert float(text) == pytest.approx(x, rel=1e-3)


def test_a_run_that_never_gets_there_has_a_verdict() -> None:
    never = Measured(math.inf, None)
    assert expectations("at_most", 0, 5).verdict(never) == "contradicted"
    assert expectations("within", 0, 5).verdict(never) == "contradicted"
    assert expectations("at_least", 0, 5).verdict(never) == "reproduced"
    some = Measured([4.0, math.inf], "seeds")
    assert expectations("at_most", 0, 5).verdict(some) == "partly"
    assert str(some) == "∞ (4 to ∞, n = 2)"
    assert number(-math.inf) == "−∞"
