"""The record of what was preregistered: read, and refused where it is malformed."""

import json
from pathlib import Path
from typing import Any

import pytest

from bookbuild.errors import BookError
from bookbuild.ledger.preregistration import Preregistration, read_preregistration
from bookbuild.reporting.expectations import read_expectation

FIVE = read_expectation({"at_most": 5})


def write(root: Path, rows: object) -> None:
    (root / "data").mkdir(exist_ok=True)
    text = json.dumps({"rows": rows})
    (root / "data" / "preregistration.json").write_text(text, encoding="utf-8")


def test_the_record_is_read(tmp_path: Path) -> None:
    assert read_preregistration(tmp_path) == {}
    expect: dict[str, Any] = {"at_most": "5"}
    write(
        tmp_path,
        {"a-row": {"preregistration": "changed", "expect": expect, "was": [{"holds": True}]}},
    )
    was = (read_expectation({"holds": True}),)
    assert read_preregistration(tmp_path) == {"a-row": Preregistration("changed", FIVE, was)}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (
            {"preregistration": "early", "expect": {"at_most": 5}},
            "'rows.a-row.preregistration' is not one of",
        ),
        (
            {"preregistration": "changed", "expect": {"at_most": 5}},
            "the field 'rows.a-row.was' is missing",
        ),
        (
            {"preregistration": "before", "expect": {"at_most": 5}, "was": [{"at_most": 4}]},
            "is only allowed with 'changed'",
        ),
    ],
)
def test_a_malformed_record_is_refused(tmp_path: Path, row: object, reason: str) -> None:
    write(tmp_path, {"a-row": row})
    with pytest.raises(BookError, match=reason):
        read_preregistration(tmp_path)
