"""What is said of the signature of a file of results."""

import os
from pathlib import Path

import pytest

from bookbuild.published.signature import signed
from tools.toy_book import Toy

GH = """#!/bin/sh
[ "$1 $2 $4 $5" = "attestation verify --repo someone/toy" ] || exit 9
grep -q whole "$3" || { echo "no attestation" >&2; exit 1; }
"""


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("whole", "signed by the workflow of someone/toy"),
        ("forged", "not signed by the workflow of someone/toy: no attestation"),
    ],
)
def test_github_is_asked(
    unbuilt: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, told: str
) -> None:
    program = tmp_path / "gh"
    program.write_text(GH, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    file = tmp_path / "results.zip"
    file.write_text(content, encoding="utf-8")
    assert signed(file, unbuilt.root) == told


def test_where_nobody_can_be_asked_that_is_said(
    unbuilt: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert signed(tmp_path, unbuilt.root) == "not asked who made the file, for gh is not installed"
    unbuilt.edit("_config.yml", "https://github.com/someone/toy", '""')
    assert "the book has no address on GitHub" in signed(tmp_path, unbuilt.root)
