"""What the builder is told: words about rows, a text, runs that are refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from nbformat.v4 import new_notebook

from bookbuild.errors import BookError
from bookbuild.ledger.claims import Claim, Finding
from bookbuild.ledger.records import Records, ledger_row, ledger_schema
from bookbuild.reporting.expectations import read_expectation
from bookbuild.reporting.measures import Measure
from bookbuild.results.keys import chapter_fingerprint
from bookbuild.settings import BuildSettings
from bookbuild.source.chapters import Chapter
from evidence.outcomes import (
    DECLARED,
    RECORD,
    Outcome,
    Record,
    Runs,
    digests,
    read_outcomes,
    replaced,
    text_of,
)
from evidence.preregistration import PREREGISTRATION
from evidence.shown import Evidence, about

CHAPTER, FILE = "paper/01_line", "data/long.json"
LINE = Chapter(CHAPTER, "Line", new_notebook(), ())
EXPECTED = read_expectation({"at_least": 1})
CLAIM = Claim("a", "§1", "A.", "paper", CHAPTER, "slope", EXPECTED, "Because.")
FINDING = Finding(CLAIM, Measure(2.0, None), "reproduced")


def write(root: Path, name: str | Path, text: str) -> None:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text(text, encoding="utf-8")


def weighed(root: Path) -> tuple[Finding, Records]:
    (finding,), records = Evidence(root).weigh([FINDING], [LINE], BuildSettings(root))
    return finding, records


def test_a_row_is_lowered_until_it_was_repeated(tmp_path: Path) -> None:
    assert weighed(tmp_path)[0] == FINDING
    write(tmp_path, DECLARED, "{seeds: [100], roundings: {plain: {}}}")
    finding, records = weighed(tmp_path)
    assert (finding.verdict, finding.unconfirmed) == ("partly", True)
    assert "Of the 1 rows that are judged, 1 was not repeated" in records.texts["unrenewed"]
    code = chapter_fingerprint(LINE, BuildSettings(tmp_path))
    one = Outcome(CHAPTER, "seed 100", "seed", "paper", code, "", "", None, 1.0, {"slope": 2.0})
    record = replaced(Record(), [one, replace(one, variation="rounding plain", kind="rounding")])
    write(tmp_path, RECORD, text_of(record))
    finding, records = weighed(tmp_path)
    assert finding == FINDING
    assert records.words(FINDING) == ["", "steady", "steady", "untried", ""]
    assert records.texts["unrenewed"] == ""


def test_the_published_schema_describes_what_is_known_of_a_row(tmp_path: Path) -> None:
    expected = {"rows": {"a": {"preregistration": "before", "expect": {"at_least": 1}}}}
    write(tmp_path, PREREGISTRATION, json.dumps(expected))
    finding, records = weighed(tmp_path)
    row = ledger_row(finding, records)
    assert Draft202012Validator(ledger_schema(records)).is_valid([row])
    assert (row["expectation_written"], row["verdict_alone"]) == ("before", "reproduced")
    untested = replace(FINDING, claim=replace(CLAIM, id="b"), verdict="not judged")
    row = ledger_row(untested, replace(records, rows={"b": about(untested, {}, None)}))
    assert Draft202012Validator(ledger_schema(records)).is_valid([row])
    assert row["expectation_written"] is row["planted_faults"] is None


def test_a_run_that_was_changed_by_hand_is_refused_and_one_made_again_recorded(
    tmp_path: Path,
) -> None:
    three, made = '[{"a": 1}, {"a": 2}, {"a": 3}]', '[{"a": 1}, {"a": 2}, {"a": 4}]'
    write(tmp_path, FILE, three)
    Evidence(tmp_path).keep_runs(FILE, three, "b")
    assert not (tmp_path / RECORD).exists()  # a book may keep no record
    line = Runs(FILE, ("f00", "b"), digests(three))
    write(tmp_path, RECORD, text_of(replaced(Record(), [line])))
    Evidence(tmp_path).check_runs(FILE, three)
    for changed, place in ((made, 3), ('[{"a": 1}, {"a": 2}]', 3), ('[{"a": 2}]', 1)):
        with pytest.raises(BookError, match=f"entry {place}: it was changed by hand"):
            Evidence(tmp_path).check_runs(FILE, changed)
    Evidence(tmp_path).keep_runs(FILE, made, "b")
    assert read_outcomes(tmp_path).runs[FILE] == Runs(FILE, ("f00", "b"), digests(made))
    assert Evidence(tmp_path).is_current(FILE, "f00", "b")
    Evidence(tmp_path).keep_runs(FILE, made, "c")
    assert read_outcomes(tmp_path).runs[FILE].same == ("c",)
    Evidence(tmp_path).forget_runs()
    Evidence(tmp_path).check_runs(FILE, "[]")  # where all are made anew
