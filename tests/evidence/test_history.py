"""Entries that are recorded otherwise than before are found, on small repositories."""

import json
from pathlib import Path
from typing import Any

import pytest

from evidence.history import altered, lines, lost, stored_entries
from repositories import Repository

RUNS, LINES, SINCE = "data/runs.json", "data/lines.jsonl", "data/since.txt"
PARSERS = {RUNS: stored_entries, LINES: lines}


def run(seed: float = 0, **changes: Any) -> dict[str, Any]:
    """An entry of a file of stored runs."""
    entry = {"configuration": {"": "Cell", "seed": seed}, "code": "c0de", "commit": "a" * 12}
    entry |= {"machine": "a machine", "versions": {"python": "3.11"}, "seconds": 2.5}
    return entry | {"date": "2026-11-01", "result": [0.5], "digest": "d1"} | changes


class Records(Repository):
    """A repository with a file of stored runs, one of lines, and the file that starts them."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, "data")
        for path in (SINCE, RUNS, LINES):
            self.write(path, "[]" if path == RUNS else "")

    def put(self, *entries: dict[str, Any], path: str = RUNS) -> None:
        texts = [json.dumps(entry) for entry in entries]
        text = "[\n" + ",\n".join(texts) + "\n]\n" if path == RUNS else "\n".join(texts) + "\n"
        self.write(path, text)

    def commit(self, *entries: dict[str, Any], path: str = RUNS) -> str:
        self.put(*entries, path=path)
        return self.commit_all()

    def altered(self) -> list[str]:
        return altered(self.root, PARSERS, SINCE)


@pytest.fixture
def repository(tmp_path: Path) -> Records:
    return Records(tmp_path / "repository")


@pytest.mark.parametrize("edit", [{"result": [0.6]}, {"machine": None}, {"code": "0ther"}], ids=str)
@pytest.mark.parametrize("date", ["2026-11-01", None])
def test_an_edited_entry_is_found(
    repository: Records, edit: dict[str, Any], date: str | None
) -> None:
    repository.commit(run(date=date))
    repository.put(run(date=date, **edit), run(1))
    output = repository.altered()[0]
    assert output.startswith(f"{RUNS}: ")
    assert '"seed": 0' in output
    assert output.endswith("was recorded, and is otherwise in the working tree.")
    then = repository.commit(run(date=date, **edit), run(1))
    repository.commit(run(date=date), run(1))  # and back, which hides nothing
    output, *_ = repository.altered()
    assert output.endswith(f"was recorded, and is otherwise in commit {then}.")


def test_new_runs_added_removed_and_reordered_entries_are_fine(repository: Records) -> None:
    repository.commit(run(0), run(1))
    repository.commit(run(1), run(0, code="0ther", date="2026-11-02", result=[0.7]), run(2))
    repository.commit(run(1), run(0.0, code="0ther", date="2026-11-02", result=[0.7]))
    repository.commit(dict(reversed(run(1).items())))
    repository.put()
    repository.write(LINES, "")
    assert repository.altered() == []


def outcome(**changes: Any) -> dict[str, Any]:
    """A line of the record of evidence."""
    line = {"line": "outcome", "chapter": "a", "variation": "seed 100", "fingerprint": "f"}
    return line | {"of": "d", "commit": "c0", "values": {"slope": 1.0}, "digest": "d1"} | changes


@pytest.mark.parametrize("edit", [{"values": {"slope": 2.0}}, {"commit": "c1"}, {"machine": "b"}])
def test_an_outcome_is_known_by_chapter_code_and_variation(
    repository: Records, edit: dict[str, Any]
) -> None:
    repository.commit(outcome(), path=LINES)  # which comes after the other file
    repository.commit(outcome(), outcome(fingerprint="g"), path=LINES)
    repository.put(path=RUNS)
    assert repository.altered() == []
    repository.put(outcome(**edit), path=LINES)
    output, *_ = repository.altered()
    assert output.startswith(LINES)
    assert '"chapter": "a"' in output
    repository.put(outcome(), path=LINES)
    assert [one["fingerprint"] for one in lost(repository.root, LINES, SINCE)] == ["g"]


def test_a_file_that_is_not_there_is_told_and_what_cannot_be_read_raises(
    repository: Records,
) -> None:
    repository.commit(run())
    assert altered(repository.root, {"data/other.json": stored_entries}, SINCE)
    repository.commit(outcome(), path=LINES)
    repository.write(LINES, f"{json.dumps(outcome())}\r{{}}")
    with pytest.raises(json.JSONDecodeError):
        repository.altered()


def test_branches_are_held_against_each_other_and_an_edit_in_a_merge_is_found(
    repository: Records,
) -> None:
    repository.commit(run(0))
    repository.git("checkout", "--quiet", "-b", "other")
    repository.commit(run(0), run(1))
    repository.git("checkout", "--quiet", "main")
    repository.commit(run(0), run(2))
    assert repository.altered() == []
    repository.git("merge", "--quiet", "--no-ff", "--no-commit", "--strategy=ours", "other")
    merge = repository.commit(run(0, machine=None), run(1, result=[0.1]), run(2))
    repository.commit(run(0), run(1), run(2))
    output = [one for one in repository.altered() if f"otherwise in commit {merge}" in one]
    assert ['"seed": 0' in output[0], '"seed": 1' in output[-1]] == [True, True]


def test_a_merge_with_conflicts_records_nothing(repository: Records) -> None:
    repository.commit(run())
    repository.write(RUNS, "<<<<<<< HEAD\n")
    repository.commit_all()
    repository.commit(run())
    assert repository.altered() == []
    repository.commit(run(machine=None))
    assert repository.altered()
