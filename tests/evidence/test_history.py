"""Entries that are recorded otherwise than before are found, on small repositories."""

import json
from pathlib import Path
from typing import Any

import pytest

from bookbuild.errors import BookError
from evidence.history import altered, lines, lost, replaced, rewritten, runs
from tools.toy_book import git

RUNS, LINES, SINCE = "data/runs.json", "data/lines.jsonl", "data/since.txt"
PARSERS = {RUNS: runs, LINES: lines}


def run(seed: float = 0, **changes: Any) -> dict[str, Any]:
    """An entry of a file of stored runs."""
    entry = {"configuration": {"": "Cell", "seed": seed}, "code": "c0de", "commit": "a" * 12}
    entry |= {"machine": "a machine", "versions": {"python": "3.11"}, "seconds": 2.5}
    return entry | {"date": "2026-11-01", "result": [0.5], "digest": "d1"} | changes


class Repository:
    """A repository with a file of stored runs, one of lines, and the file that starts them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "data").mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        for path in (SINCE, RUNS, LINES):
            (root / path).write_text("[]" if path == RUNS else "", encoding="utf-8")

    def git(self, *arguments: str) -> str:
        return git(self.root, *arguments)

    def put(self, *entries: dict[str, Any], path: str = RUNS) -> None:
        texts = [json.dumps(entry) for entry in entries]
        text = "[\n" + ",\n".join(texts) + "\n]\n" if path == RUNS else "\n".join(texts) + "\n"
        (self.root / path).write_text(text, encoding="utf-8")

    def commit(self, *entries: dict[str, Any], path: str = RUNS) -> str:
        """Commit entries; return the name of the commit, as sentences have it."""
        self.put(*entries, path=path)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=a")
        return self.git("rev-parse", "HEAD")[:12]

    def altered(self) -> list[str]:
        return altered(self.root, PARSERS, SINCE)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


@pytest.mark.parametrize("edit", [{"result": [0.6]}, {"machine": None}, {"code": "0ther"}], ids=str)
@pytest.mark.parametrize("date", ["2026-11-01", None])
def test_an_edited_entry_is_found(
    repository: Repository, edit: dict[str, Any], date: str | None
) -> None:
    first = repository.commit(run(date=date))
    repository.put(run(date=date, **edit), run(1))
    told = repository.altered()[0]
    assert told.startswith(f"{RUNS}: ")
    assert '"seed": 0' in told
    assert told.endswith(f"recorded in commit {first}, and is otherwise since the working tree.")
    then = repository.commit(run(date=date, **edit), run(1))
    repository.commit(run(date=date), run(1))  # and back, which hides nothing
    told, *_ = repository.altered()
    assert told.endswith(f"recorded in commit {first}, and is otherwise since commit {then}.")


def test_new_runs_added_removed_and_reordered_entries_are_fine(repository: Repository) -> None:
    repository.commit(run(0), run(1))
    repository.commit(run(1), run(0, code="0ther", date="2026-11-02", result=[0.7]), run(2))
    repository.commit(run(1), run(0.0, code="0ther", date="2026-11-02", result=[0.7]))
    repository.commit(dict(reversed(run(1).items())))
    repository.put()
    (repository.root / LINES).write_text("", encoding="utf-8")
    assert repository.altered() == []


def outcome(**changes: Any) -> dict[str, Any]:
    """A line of the record of evidence."""
    line = {"line": "outcome", "chapter": "a", "variation": "seed 100", "fingerprint": "f"}
    return line | {"of": "d", "commit": "c0", "values": {"slope": 1.0}, "digest": "d1"} | changes


@pytest.mark.parametrize("edit", [{"values": {"slope": 2.0}}, {"commit": "c1"}, {"machine": "b"}])
def test_an_outcome_is_known_by_chapter_code_and_variation(
    repository: Repository, edit: dict[str, Any]
) -> None:
    repository.commit(outcome(), path=LINES)  # which comes after the other file
    repository.commit(outcome(), outcome(fingerprint="g"), path=LINES)
    repository.put(path=RUNS)
    assert repository.altered() == []
    repository.put(outcome(**edit), path=LINES)
    told, *_ = repository.altered()
    assert told.startswith(LINES)
    assert '"chapter": "a"' in told
    repository.put(outcome(), path=LINES)
    assert [one["fingerprint"] for one in lost(repository.root, LINES, SINCE)] == ["g"]


def test_a_file_that_is_not_there_is_told_and_what_cannot_be_read_raises(
    repository: Repository,
) -> None:
    repository.commit(run())
    assert altered(repository.root, {"data/other.json": runs}, SINCE)
    repository.commit(outcome(), path=LINES)
    (repository.root / LINES).write_text(f"{json.dumps(outcome())}\r{{}}", encoding="utf-8")
    with pytest.raises(json.JSONDecodeError):
        repository.altered()


def numbers(*same: str, **changes: Any) -> dict[str, Any]:
    """A line about the codes of a chapter that make the same numbers."""
    return {"line": "numbers", "chapter": "a", "same": [*same], "smoke": {"slope": 1.0}} | changes


@pytest.mark.parametrize(
    ("line", "fine"),
    [
        (numbers("f", "g", "h"), True),
        (numbers("h"), True),
        (numbers("f"), True),
        (numbers("f", "g", "h", "i"), False),
        (numbers("f", "g", "g"), False),
        (numbers("f", "g", smoke={"slope": 2.0}), False),
        (numbers("e", "f", "g"), False),
        (numbers("f", "h"), False),
        (numbers("f", "g", "h", smoke={"slope": 2.0}), False),
        (numbers("f", "g", constants="k"), False),  # which no build has shown to change nothing
        (numbers("f", "g", paper="p"), True),
    ],
)
def test_codes_that_make_the_same_numbers_grow_at_their_end(
    repository: Repository, line: dict[str, Any], fine: bool
) -> None:
    repository.commit(numbers("f"), path=LINES)
    repository.commit(numbers("f", "g"), path=LINES)
    repository.put(line, path=LINES)
    assert (rewritten(repository.root, LINES, SINCE) == []) is fine


@pytest.mark.parametrize(
    ("lists", "fine"),
    [
        ([numbers("f"), numbers("g")], True),
        ([numbers("f"), numbers("g", smoke={"slope": 2.0}), numbers("f")], True),  # and back
        ([numbers("f"), numbers("f", "g"), numbers("f"), numbers("f", "g")], True),
        (
            [numbers("f"), numbers("g", smoke={"slope": 2.0}), numbers("f"), numbers("f", "g")],
            False,
        ),
        ([numbers("g"), numbers("f"), numbers("f", "g")], False),
        ([numbers("f"), numbers("g"), numbers("f", smoke={"slope": 2.0})], False),
    ],
)
def test_a_code_that_comes_back_brings_nothing_new(
    repository: Repository, lists: list[dict[str, Any]], fine: bool
) -> None:
    for line in lists:
        repository.commit(line, path=LINES)
    assert (rewritten(repository.root, LINES, SINCE) == []) is fine


@pytest.mark.parametrize(("paper", "fine"), [("p", True), ("q", False), ("", False)])
@pytest.mark.parametrize("constants", ["j", "k"])
def test_numbers_of_a_build_stay(
    repository: Repository, constants: str, paper: str, fine: bool
) -> None:
    repository.commit(numbers("f", constants="j", paper="p"), path=LINES)
    repository.put(numbers("f", "g", constants=constants, paper=paper), path=LINES)
    assert (rewritten(repository.root, LINES, SINCE) == []) is fine


@pytest.mark.parametrize(
    ("codes", "found"), [(["c0de"], True), (["c0de", "0ther"], True), (["0ther"], False)]
)
def test_a_run_is_made_anew_only_if_its_code_changed(
    repository: Repository, codes: list[str], found: bool
) -> None:
    def line(same: list[str]) -> dict[str, Any]:
        return {"line": "runs", "file": RUNS, "same": same}

    repository.put(line(["c0de"]), path=LINES)
    repository.commit(run(0), run(1))
    repository.put(line(codes), path=LINES)
    new = {"code": "invented", "date": "2026-11-09", "result": [0.9]}
    repository.commit(run(0), run(1, **new))
    assert repository.altered() == []
    assert bool(replaced(repository.root, [RUNS], LINES, SINCE)) is found


def test_minus_nothing_is_nothing(repository: Repository) -> None:
    repository.commit(run(0.0))
    repository.put(run(-0.0, result=[0.7]))
    assert repository.altered()


def test_branches_are_held_against_each_other(repository: Repository) -> None:
    repository.commit(run(0))
    repository.git("checkout", "--quiet", "-b", "other")
    repository.commit(run(0), run(1, result=[0.1]))
    repository.git("checkout", "--quiet", "main")
    repository.commit(run(0), run(1))
    assert repository.altered() == []
    repository.git("merge", "--quiet", "--no-edit", "--strategy=ours", "other")
    told, *_ = repository.altered()
    assert '"seed": 1' in told


def test_an_edit_in_a_merge_is_found(repository: Repository) -> None:
    repository.commit(run(0))
    repository.git("checkout", "--quiet", "-b", "other")
    repository.commit(run(0), run(1))
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "--no-ff", "--no-commit", "other")
    merge = repository.commit(run(0, machine=None), run(1))
    repository.commit(run(0), run(1))
    told, *_ = repository.altered()
    assert f"since commit {merge}" in told


def test_what_was_there_before_the_format_does_not_count(repository: Repository) -> None:
    (repository.root / SINCE).unlink()
    repository.commit({"of": "another format"})
    repository.commit(run(result=[0.4]))
    (repository.root / SINCE).write_text("", encoding="utf-8")
    repository.commit(run())
    assert repository.altered() == []


def test_a_merge_with_conflicts_records_nothing(repository: Repository) -> None:
    repository.commit(run())
    (repository.root / RUNS).write_text("<<<<<<< HEAD\n", encoding="utf-8")
    repository.git("commit", "--quiet", "--all", "--message=a")
    repository.commit(run())
    assert repository.altered() == []
    repository.commit(run(machine=None))
    assert repository.altered()


def test_a_shallow_clone_is_refused(repository: Repository) -> None:
    repository.commit(run())
    repository.commit(run(), run(1))
    repository.git("clone", "--quiet", "--depth=1", f"file://{repository.root}", "clone")
    with pytest.raises(BookError, match="run git fetch --unshallow"):
        altered(repository.root / "clone", PARSERS, SINCE)
