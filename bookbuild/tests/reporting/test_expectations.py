"""Every verdict rule, and expressions in prose."""

import math
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bookbuild.reporting.expectations import read_expectation
from bookbuild.reporting.expressions import TEXTS, cell_of, fault, filled, quoted_code
from bookbuild.reporting.measures import Measure, four_digits

numbers = st.floats(-1e6, 1e6)
pairs = st.tuples(numbers, numbers).map(sorted)
seeds = st.lists(numbers, min_size=1, max_size=6)


forms = st.sampled_from(["within", "at_least", "at_most"])
grids = st.dictionaries(st.text(min_size=1), numbers | seeds, min_size=1, max_size=5)


def expectation(form, bounds):
    bound = {"within": bounds, "at_least": bounds[0], "at_most": bounds[1]}[form]
    return read_expectation({form: bound})


def admits(form, bounds, value):
    above, below = bounds[0] <= value, value <= bounds[1]
    return {"within": above and below, "at_least": above, "at_most": below}[form]


def verdict(fits):
    return "reproduced" if all(fits) else "partly" if any(fits) else "contradicted"


@given(forms, pairs, pairs)
def test_an_interval_is_held_against_the_bounds(form, bounds, interval):
    low = -math.inf if form == "at_most" else bounds[0]
    high = math.inf if form == "at_least" else bounds[1]
    inside = low <= interval[0] and interval[1] <= high
    disjoint = interval[1] < low or interval[0] > high
    expected = "reproduced" if inside else "contradicted" if disjoint else "partly"
    assert expectation(form, bounds).verdict(Measure(interval, "interval")) == expected


@given(forms, pairs, grids)
def test_seeds_and_settings_that_disagree_reproduce_partly(form, bounds, grid):
    fits, expected = {}, expectation(form, bounds)
    for name, value in grid.items():
        several = isinstance(value, list)
        fits[name] = [admits(form, bounds, x) for x in (value if several else [value])]
        part = Measure(value, "seeds" if several else None)
        assert expected.verdict(part) == verdict(fits[name])
        assert expected.share(part) == sum(fits[name]) / len(fits[name])
    measured = Measure(grid, "settings")
    assert expected.verdict(measured) == verdict([one for row in fits.values() for one in row])
    failing = {name for name, row in fits.items() if not all(row)}
    assert {*expected.failing(measured)} == failing
    output = f"holds in {len(grid) - len(failing)} of {len(grid)} settings"
    assert expected.holding(measured) == output


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_written_to_four_digits(x):
    assume(1e-300 < abs(x) < 1e308 or x == 0)
    text = four_digits(x).translate(str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--⁰¹²³⁴⁵⁶⁷⁸⁹"))
    if power := re.fullmatch("(?:(.+) × )?10([-⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text):
        text = f"{power[1] or 1}e{power[2].translate(str.maketrans('⁰¹²³⁴⁵⁶⁷⁸⁹', '0123456789'))}"
    assert float(text) == pytest.approx(x, rel=1e-3)


PROSE = """\
The head leads by {eval}`f"{lead:.1f}"` times, and by {eval}``f"`{
  lead - 4:.0f}`"`` here. As ``{eval}`no` `` and ```{eval}`no` ``` say: {eval}`worst(
  {"a": 1})`, {glue:text}`other:.2f`.
"""
FOUND = ['f"{lead:.1f}"', 'f"`{ lead - 4:.0f}`"', 'worst( {"a": 1})']


@pytest.fixture
def told(monkeypatch):
    """What the cells that evaluate expressions display."""
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, *, raw: shown.append(data))
    return shown


def evaluated(prose, **names):
    """Evaluate the expressions of a text where cells have set these names."""
    exec(cell_of(prose), names)


def test_values_are_filled_in_where_their_expressions_stand_in_order(told):
    assert quoted_code(PROSE) == FOUND
    evaluated(PROSE, lead=2.25, worst=lambda numbers: max(numbers))
    (shown,) = told
    assert shown == {TEXTS: ["2.2", "`-2`", "a"]}
    text = filled(PROSE, iter(shown[TEXTS]))
    assert text == (
        "The head leads by 2.2 times, and by `−2` here. "
        "As ``{eval}`no` `` and ```{eval}`no` ``` say: a, {glue:text}`other:.2f`.\n"
    )
    assert cell_of("No expression, {glue:text}`slope`, `{eval}` alone.") == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("-0.5", "−0.5"),
        ("from -3 to -1", "from −3 to −1"),
        ("a-1", "a-1"),
        ("1e-05", "10⁻⁵"),
        ("to 2e-26 or 0e+00", "to 2 × 10⁻²⁶ or 0"),
        ("-6e-01", "−0.6"),
        ("x1e-5", "x1e-5"),
    ],
)
def test_numbers_have_the_signs_and_powers_of_typesetters(value, text):
    assert filled("{eval}`x`", iter([value])) == text


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("1 / 0", "expression 2: ZeroDivisionError: division by zero"),
        ("gone", "expression 2: NameError: name 'gone' is not defined"),
        ("float('nan')", "expression 2 gives 'nan': let the sentence say what then"),
        ("f'at most {float(\"inf\"):.0%}'", "expression 2 gives 'at most inf%'"),
        ("-float('inf')", "expression 2 gives '-inf'"),
    ],
)
def test_an_expression_that_fails_or_is_no_number_is_counted(told, code, reason):
    with pytest.raises(ValueError, match="expression 2") as caught:
        evaluated(f"{{eval}}`'information'`, {{eval}}`{code}`")
    assert str(caught.value).startswith(reason)
    assert told == []


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("a + b", ""),
        ("(a, b)", ""),
        ("[x for x in a]", ""),
        ("a, b", "several values need parentheses"),
        ("a +", "invalid syntax"),
        ("a = 1", "invalid syntax"),
        ("(a", "'(' was never closed"),
    ],
)
def test_what_is_no_expression_is_refused(code, why):
    assert fault(code).startswith(why)
    assert bool(fault(code)) == bool(why)
