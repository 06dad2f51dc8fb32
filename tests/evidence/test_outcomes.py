"""The record of evidence: its lines come back as they were, and a false one is refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bookbuild.errors import BookError
from evidence.outcomes import (
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

LINE, FILE = "paper/01_line", "data/k_hop.json"
TOY = Numbers(LINE, ("a", "b"), "c", {"slope": [2.0, "inf"]}, {"slope": "d"}, "a machine")
SEED = Outcome(LINE, "seed 100", "seed", "paper", "b", "o", "c", None, 2.5, {"slope": 2})
FAULT = Outcome(LINE, "slip", "fault", "smoke", "b", "o", "c", "a machine", 1.0,
                fates={"turned": ("a-row",), "stops": ()})  # fmt: skip
RUNS = Runs(FILE, ("e", "f"), ("1", "2"))
WHOLE = replaced(Record(), [SEED, FAULT, TOY, RUNS])
BARE = [replace(TOY, smoke={}), replace(SEED, values={}), replace(RUNS, entries=())]


def written(root: Path, text: str) -> Path:
    (root / RECORD).parent.mkdir(exist_ok=True)
    (root / RECORD).write_text(text, encoding="utf-8")
    return root


def signed(**content: object) -> str:
    return json.dumps(content | {"digest": digest(content)})


@pytest.mark.parametrize("record", [Record(), WHOLE, replaced(WHOLE, BARE)])
def test_what_is_written_is_read(tmp_path: Path, record: Record) -> None:
    text = text_of(record)
    assert read_outcomes(written(tmp_path, text)) == record
    assert text_of(read_outcomes(tmp_path)) == text


def test_a_line_takes_the_place_of_its_own() -> None:
    other = replace(SEED, seconds=7.0)
    record = replaced(WHOLE, [other])
    assert record.outcomes == WHOLE.outcomes | {(LINE, "seed 100"): other}
    assert record.of(LINE, "seed", "device") == [other]
    assert record.of("paper/02_other", "seed") == []


NUMBERS, AT_100, *_ = text_of(WHOLE).splitlines()
WITHOUT = {k: v for k, v in json.loads(AT_100).items() if k != "digest"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (AT_100.replace("2.5", "2.6"), "it was changed by hand"),
        (json.dumps(WITHOUT), "it was changed by hand"),
        (signed(**WITHOUT | {"line": "remark"}), "'remark'"),
        (signed(**WITHOUT | {"mood": 1}), "unexpected keyword argument 'mood'"),
        *(
            (signed(**WITHOUT | {field: hostile}), f"the field '{field}' is no plain text: 'L")
            for field in ("machine", "commit")
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


def test_lines_in_another_order_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BookError, match="was changed by hand: its lines are not as they are"):
        read_outcomes(written(tmp_path, f"{AT_100}\n{NUMBERS}\n"))


def test_codes_of_the_same_numbers_are_current() -> None:
    made = [(LINE, "a", "b"), (LINE, "c", "c"), (FILE, "e", "f")]
    assert all(WHOLE.is_current(*one) for one in made)
    made = [(LINE, "a", "c"), ("paper/02_other", "a", "b")]
    assert not any(WHOLE.is_current(*one) for one in made)
    assert not WHOLE.is_current(LINE, "a", None)
