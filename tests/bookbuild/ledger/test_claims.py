"""The ledger: its rows, and how they meet what the chapters report."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from bookbuild.errors import BookError
from bookbuild.ledger.claims import Claim, count, judge, read_claims

CHAPTER = "paper/01_line"
ROW = {
    "id": "a-slope",
    "source": "§1",
    "statement": "The slope is two.",
    "kind": "paper",
    "chapter": CHAPTER,
    "measure": "slope",
    "expect": {"within": [1, 3]},
    "why": "Exact.",
}


def read(folder: Path, rows: object) -> list[Claim]:
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "claims.yml").write_text(yaml.safe_dump(rows), encoding="utf-8")
    return read_claims(folder, [CHAPTER, "paper/02_other"])


def measure(value: Any, *, over: str | None = None, judged: bool = True) -> dict[str, Any]:
    return {"value": value, "over": over, "judged": judged}


def without(*names: str) -> dict[str, Any]:
    return {name: value for name, value in ROW.items() if name not in names}


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([ROW | {"expects": 1}], "row 'a-slope': unknown field 'expects'"),
        ([without("id")], "row 1: the field 'id' is missing"),
        ([without("why")], "'why' is missing"),
        ([without("measure", "expect", "why")], "'measure' is missing"),
        ([ROW | {"not_testable": "too large"}], "does not go with 'not_testable'"),
        ([ROW | {"id": "A slope"}], "not kebab-case"),
        ([ROW | {"kind": "old"}], "the kind 'old'"),
        ([ROW | {"chapter": "paper/9"}], "there is no chapter 'paper/9'"),
        ([ROW | {"expect": {"near": 2}}], "'expect' is exactly one of"),
        ([ROW | {"statement": ""}], "'statement' is not a text"),
        ([ROW | {"headline": True}], "'headline' is not a text"),
        ([ROW | {"headline": "$N^2$ steps"}], "the headline has a formula"),
        ([ROW, ROW], "the id is used 2 times"),
        (["text"], "row 1: it is not a mapping"),
        ({"a": 1}, "not a list of rows"),
    ],
)
def test_a_malformed_row_is_named_with_its_fault(tmp_path: Path, rows: object, reason: str) -> None:
    with pytest.raises(BookError, match=reason):
        read(tmp_path, rows)


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(BookError) as caught:
        read(tmp_path, [ROW | {"kind": "old"}, without("source") | {"id": "b"}])
    assert len(caught.value.problems) == 2


def test_a_ledger_that_is_no_yaml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "claims.yml").write_text("- [", encoding="utf-8")
    with pytest.raises(BookError, match="cannot be read"):
        read_claims(tmp_path, [CHAPTER])


@pytest.mark.parametrize(
    ("reported", "reason"),
    [
        ({CHAPTER: {"slop": measure(2.0)}}, "row 'a-slope': measure 'slope' is reported by no"),
        ({CHAPTER: {}, "paper/02_other": {"slope": measure(2.0)}}, "by paper/02_other, not by"),
        ({CHAPTER: {"slope": measure(2.0), "x": measure(1.0)}}, "'x' of chapter .* has no claim"),
        ({CHAPTER: {"slope": measure(2.0, judged=False)}}, "is not to be judged"),
        ({CHAPTER: {"slope": measure(True)}}, "does not fit"),
        (
            {CHAPTER: {"slope": measure(2.0)}, "paper/02_other": {"slope": measure(2.0)}},
            "by paper/01_line and by paper/02_other",
        ),
    ],
)
def test_claims_and_measures_have_to_match(
    tmp_path: Path, reported: dict[str, dict[str, Any]], reason: str
) -> None:
    with pytest.raises(BookError, match=reason):
        judge(read(tmp_path, [ROW]), reported, judged=True)


def test_the_smoke_profile_matches_but_does_not_judge(tmp_path: Path) -> None:
    claims = read(tmp_path, [ROW])
    reported = {CHAPTER: {"slope": measure(9.0), "x": measure(1.0, judged=False)}}
    assert [finding.verdict for finding in judge(claims, reported, judged=True)] == ["contradicted"]
    assert [finding.verdict for finding in judge(claims, reported, judged=False)] == ["not judged"]
    with pytest.raises(BookError, match="reported by no chapter"):
        judge(claims, {}, judged=False)


def test_a_claim_may_be_out_of_reach(tmp_path: Path) -> None:
    row = without("measure", "expect", "why") | {"not_testable": "No machine is that large."}
    findings = judge(read(tmp_path, [row]), {}, judged=True)
    assert count(findings) == {
        "reproduced": 0,
        "partly": 0,
        "contradicted": 0,
        "not testable here": 1,
    }
