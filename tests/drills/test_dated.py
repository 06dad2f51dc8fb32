"""Stored runs dated by the history: current, of earlier code, unknown, and what is known stays."""

from pathlib import Path

import pytest

from bookbuild.execution.runs import REGISTRY
from drills import dated
from running.records import Entry
from toy_book import git

NAMES = ["emergence.tiny:run"]


def entry(code: str | None, commit: str | None) -> Entry:
    """A run of which only this matters."""
    return Entry(1, code, commit, None, {}, None, None, 2)


def test_an_entry_is_current_where_nothing_that_computes_has_changed() -> None:
    digests = {None: "same", "first": "old", "second": "same", "third": None}
    made = [entry(None, "first"), entry(None, "second"), entry(None, "third")]
    found = dated.dated([*made, entry("kept", "first"), entry(None, None)], "today", digests.get)
    assert [each.code for each in found] == ["old", "today", None, "kept", None]


def test_the_sources_of_a_commit_are_those_that_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, folder = tmp_path / "book", tmp_path / "unpacked"
    module = root / "src" / "emergence" / "tiny.py"
    module.parent.mkdir(parents=True)
    (module.parent / "__init__.py").write_text("")
    git(root, "init", "-q")
    monkeypatch.setattr(dated, "ROOT", root)
    commits = []
    for head, result in (("ran", "x"), ("run", "x"), ("run", "2 * x"), ("run", "x  # again")):
        module.write_text(f"def {head}(x):\n    return {result}\n")
        git(root, "add", "-A")
        git(root, "commit", "-qm", "next")
        commits.append(git(root, "rev-parse", "HEAD").strip())
    found = [dated.digest_at(NAMES, folder, commit) for commit in commits]
    assert found[0] is None
    assert None not in found[1:]
    assert found[1] == found[3] == dated.digest_at(NAMES, folder, None)
    assert found[2] != found[1]
    assert dated.digest_at(["emergence.lost:run"], folder, commits[1]) is None


def test_every_file_says_what_computes_it() -> None:
    assert {Path(file).stem for file in REGISTRY} == {*dated.COMPUTING}
    for names in dated.COMPUTING.values():
        for name in names:
            module, _, function = name.partition(":")
            assert dated.defines(dated.ROOT / "src", module, function), name
