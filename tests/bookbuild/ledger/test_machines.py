"""Verdicts of several machines side by side: read, compared, written."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bookbuild.errors import BookError
from bookbuild.ledger.claims import Claim, Finding, Verdict
from bookbuild.ledger.expectations import read_expectation
from bookbuild.ledger.machines import FOLDER, machines_table, read_machines
from bookbuild.ledger.records import Records
from bookbuild.ledger.seed_sensitivity import Rerun
from tools.records.machine import write_machine
from tools.toy_book import Toy

REPORT: dict[str, Any] = {
    "machine": "Other",
    "device": "cpu",
    "commit": "0" * 12,
    "date": "2026-01-01",
    "versions": {"torch": "2"},
    "verdicts": {"first": "reproduced", "second": "partly"},
}


def finding(name: str, verdict: Verdict) -> Finding:
    claim = Claim(
        id=name,
        source="§1",
        statement="It is so.",
        kind="new",
        chapter="a/b",
        measure=name,
        expectation=read_expectation({"at_most": 1}),
    )
    return Finding(claim, None, verdict)


def test_only_rows_that_differ_somewhere_are_listed() -> None:
    findings = [finding(name, "reproduced") for name in ("first", "second", "third")]
    turned = Rerun((0,), ("contradicted",), "reproduced", True)
    records = Records(roundings={"third": turned}, machines=[REPORT])
    table = machines_table(findings, records)
    assert "#claim-first" not in table
    assert table.index("#claim-second") < table.index("#claim-third")
    assert 'class="verdict contradicted"' in table
    counted = re.findall(r"<tr><td>(.+?)</td>.*?>(\d+)</td>.*?>(\d+)</td></tr>", table)
    assert counted == [("another rounding", "1", "0"), ("Other", "2", "1")]


def test_what_other_seeds_lowered_is_no_difference_between_machines() -> None:
    lowered = finding("first", "partly")
    flips = Rerun((100,), ("partly",), "reproduced", True)
    records = Records(reruns={"first": flips}, machines=[REPORT])
    assert "#claim-first" not in machines_table([lowered], records)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"verdicts": {"first": "fine"}}, "'verdicts.first' is not one of reproduced"),
        ({"device": "tpu"}, "'device' is not one of cpu, cuda"),
        ({"user": "me"}, "the field 'user' is unknown"),
    ],
)
def test_a_report_of_another_form_is_one_sentence(
    tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    path = tmp_path / FOLDER / "other.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(REPORT), encoding="utf-8")
    assert read_machines(tmp_path) == [REPORT]
    path.write_text(json.dumps(REPORT | change), encoding="utf-8")
    with pytest.raises(BookError, match=told):
        read_machines(tmp_path)


def test_a_machine_reports_what_it_has_executed(toy: Toy, unbuilt: Toy) -> None:
    path = write_machine(toy.settings())
    (report,) = read_machines(toy.root)
    assert path.parent == toy.root / FOLDER
    assert set(report["verdicts"].values()) <= {"reproduced", "partly", "contradicted"}
    assert report["verdicts"]["line-slope"] == "reproduced"
    with pytest.raises(
        BookError, match=r"2 chapters have not been executed on this machine: run make reproduce"
    ):
        write_machine(unbuilt.settings())
