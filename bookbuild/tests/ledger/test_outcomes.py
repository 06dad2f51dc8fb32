"""The record of evidence: its lines come back as they were, and a false one is refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bookbuild.errors import BookError
from bookbuild.ledger.outcomes import (
    RECORD,
    Numbers,
    Outcome,
    Record,
    Runs,
    digest,
    read_outcomes,
    replaced,
    text_of,
)

LINE = Numbers("paper/01_line", ("a", "b"), "c", {"slope": [2.0, "inf"]}, "d", "a machine")
SEED = Outcome("paper/01_line", "seed 100", "seed", "paper", "b", "o", "c", None, 2.5, {"slope": 2})
FAULT = Outcome("paper/01_line", "slip", "fault", "smoke", "b", "o", "c", "a machine", 1.0,
                fates={"turned": ("a-row",), "stops": ()})  # fmt: skip
RUNS = Runs("data/k_hop.json", ("e", "f"), ("1", "2"))
WHOLE = replaced(Record(), [SEED, FAULT, LINE, RUNS])


def written(root: Path, text: str) -> Path:
    (root / RECORD).parent.mkdir(exist_ok=True)
    (root / RECORD).write_text(text, encoding="utf-8")
    return root


def signed(**content: object) -> str:
    return json.dumps(content | {"digest": digest(content)})


@pytest.mark.parametrize(
    "record",
    [
        Record(),
        WHOLE,
        replaced(
            WHOLE, [replace(LINE, smoke={}), replace(SEED, values={}), replace(RUNS, entries=())]
        ),
    ],
)
def test_what_is_written_is_read(tmp_path: Path, record: Record) -> None:
    text = text_of(record)
    assert read_outcomes(written(tmp_path, text)) == record
    assert text_of(read_outcomes(tmp_path)) == text


def test_a_line_takes_the_place_of_its_own() -> None:
    other = replace(SEED, seconds=7.0)
    record = replaced(WHOLE, [other])
    assert record.outcomes == WHOLE.outcomes | {("paper/01_line", "seed 100"): other}
    assert record.of("paper/01_line", "seed", "device") == [other]
    assert record.of("paper/02_other", "seed") == []


NUMBERS, AT_100, *_ = text_of(WHOLE).splitlines()
WITHOUT = {k: v for k, v in json.loads(AT_100).items() if k != "digest"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (AT_100.replace("2.5", "2.6"), "it was changed by hand"),
        (json.dumps(WITHOUT), "it was changed by hand"),
        (signed(**WITHOUT | {"kind": "mood"}), "there is no variation of the kind 'mood'"),
        (signed(**WITHOUT | {"line": "remark"}), "there is no line of the kind 'remark'"),
        (signed(**WITHOUT | {"mood": 1}), "unexpected keyword argument 'mood'"),
        *(
            (signed(**WITHOUT | {field: hostile}), f"the field '{field}' is no plain text: 'L")
            for field in ("machine", "variation", "commit")
            for hostile in ("Linux\n\n```{include} x\n```", "L <script>", "L" * 5000)
        ),
        (signed(line="numbers"), "same"),
        (signed(), "line"),
        (NUMBERS, "another line is about the same"),
        ("{", "Expecting"),
        ("7", "pop"),
    ],
)
def test_a_false_line_is_refused_by_its_place(tmp_path: Path, line: str, reason: str) -> None:
    root = written(tmp_path, f"{NUMBERS}\n{line}\n")
    with pytest.raises(BookError, match=rf"^data/evidence\.jsonl, line 2: .*{reason}"):
        read_outcomes(root)


@pytest.mark.parametrize(
    ("chapter", "made", "today", "current"),
    [
        ("paper/01_line", "a", "b", True),
        ("paper/01_line", "a", "c", False),
        ("paper/01_line", "c", "c", True),
        ("paper/02_other", "a", "b", False),
        ("data/k_hop.json", "e", "f", True),
        ("paper/01_line", "a", None, False),
    ],
)
def test_codes_of_the_same_numbers_are_current(
    chapter: str, made: str, today: str | None, current: bool
) -> None:
    assert WHOLE.is_current(chapter, made, today) == current
