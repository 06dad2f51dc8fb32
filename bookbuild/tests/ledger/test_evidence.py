"""A book's own evidence: a module of it is asked, and without one nothing is known."""

import sys
from pathlib import Path

import pytest

from bookbuild.errors import BookError
from bookbuild.ledger.claims import Claim, Finding
from bookbuild.ledger.evidence import Evidence, read_evidence
from bookbuild.ledger.records import Records
from bookbuild.settings import Settings

FINDINGS = [Finding(Claim("a", "§1", "A.", "paper", "paper/x"), None, "reproduced")]
OWN = """from dataclasses import replace
from bookbuild.ledger import evidence

class Evidence(evidence.Evidence):
    def weigh(self, findings, chapters, settings):
        return [replace(one, verdict="partly") for one in findings], evidence.Records()
"""


def weighed(root: Path) -> tuple[list[Finding], Records]:
    return read_evidence(root).weigh(FINDINGS, [], Settings(root))


def test_a_book_without_evidence_keeps_its_verdicts_and_runs_of_the_code_of_today(
    tmp_path: Path,
) -> None:
    assert weighed(tmp_path) == (FINDINGS, Records())
    assert read_evidence(tmp_path).is_current("data/long.json", "a", "a")
    assert not read_evidence(tmp_path).is_current("data/long.json", "a", "b")


def test_the_module_that_a_book_names_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "_config.yml").write_text("bookbuild: {evidence: own_evidence}", encoding="utf-8")
    output = "field 'bookbuild.evidence': No module named 'own_evidence'"
    with pytest.raises(BookError, match=output):
        read_evidence(tmp_path)
    (tmp_path / "own_evidence.py").write_text(OWN, encoding="utf-8")
    ((finding,), _) = weighed(tmp_path)
    assert finding.verdict == "partly"
    assert issubclass(type(read_evidence(tmp_path)), Evidence)
