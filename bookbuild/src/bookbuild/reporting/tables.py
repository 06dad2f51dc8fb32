"""The table below a report: what was measured, and in a reader's notebook the rows about it."""

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .expectations import read_expectation
from .measures import Measure

LEDGER = Path("data/claims.yml")
Row = tuple[str, str, str, str]  # a measure, the id of a row about it, its bound and its verdict


def rows_about(measures: Mapping[str, Mapping[str, Any]], *, judged: bool) -> list[Row]:
    """Return the ledger's rows about measures; none where there is no ledger."""
    import yaml

    if not LEDGER.is_file():
        return []
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    rows = yaml.load(LEDGER.read_text(encoding="utf-8"), loader)
    about: list[Row] = []
    for row in (row for row in rows if row.get("measure") in measures):
        expected, measured = read_expectation(row["expect"]), Measure.of(measures[row["measure"]])
        verdict = expected.verdict(measured) if judged else "not judged"
        about.append((row["measure"], row["id"], str(expected), verdict))
    return about


def reported_table(measures: Mapping[str, Mapping[str, Any]], rows: Sequence[Row]) -> str:
    """Return measures as a table in HTML, with the ledger's rows about them."""
    lines = []
    for name, measure in measures.items():
        value = html.escape(str(Measure.of(measure)))
        about = [row[1:] for row in rows if row[0] == name] or [("", "", "")]
        for number, row in enumerate(about):
            cells = (*((name, value) if not number else ("", "")), *(row if rows else ()))
            lines.append("".join(f"<td>{cell}</td>" for cell in cells))
    heads = ("measure", "value", *(("claim", "expected", "verdict") if rows else ()))
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<table class="report"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
