"""Expressions in prose: how they are found, evaluated, and their values filled in."""

from typing import Any

import pytest

from bookbuild.reporting.expressions import TEXTS, cell_of, fault, filled, quoted_code

PROSE = """\
The head leads by {eval}`f"{lead:.1f}"` times, and by {eval}``f"`{
  lead - 4:.0f}`"`` here. As ``{eval}`no` `` and ```{eval}`no` ``` say: {eval}`worst(
  {"a": 1})`, {glue:text}`other:.2f`.
"""
FOUND = ['f"{lead:.1f}"', 'f"`{ lead - 4:.0f}`"', 'worst( {"a": 1})']


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the cells that evaluate expressions display."""
    shown: list[Any] = []
    monkeypatch.setattr("IPython.display.display", lambda data, *, raw: shown.append(data))
    return shown


def evaluated(prose: str, **names: Any) -> None:
    """Evaluate the expressions of a text where cells have set these names."""
    exec(cell_of(prose), names)


def test_values_are_filled_in_where_their_expressions_stand_in_order(told: list[Any]) -> None:
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
    [("-0.5", "−0.5"), ("from -3 to -1", "from −3 to −1"), ("1e-05", "1e-05"), ("a-1", "a-1")],
)
def test_a_negative_number_has_a_minus_sign(value: str, text: str) -> None:
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
def test_an_expression_that_fails_or_is_no_number_is_counted(
    told: list[Any], code: str, reason: str
) -> None:
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
def test_what_is_no_expression_is_refused(code: str, why: str) -> None:
    assert fault(code).startswith(why)
    assert bool(fault(code)) == bool(why)
