"""Entries that are recorded otherwise than before are found, on small repositories."""

import json
from pathlib import Path
from typing import Any

import pytest

from bookbuild.errors import BookError
from evidence.history import altered, lines, lost, replaced, rewritten, runs
from repositories import Repository

RUNS, LINES, SINCE = "data/runs.json", "data/lines.jsonl", "data/since.txt"
PARSERS = {RUNS: runs, LINES: lines}
LATER = {"date": "2026-11-09", "result": [0.9]}


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
    assert altered(repository.root, {"data/other.json": runs}, SINCE)
    repository.commit(outcome(), path=LINES)
    repository.write(LINES, f"{json.dumps(outcome())}\r{{}}")
    with pytest.raises(json.JSONDecodeError):
        repository.altered()


def numbers(*same: str, **changes: Any) -> dict[str, Any]:
    """A line about the codes of a chapter that make the same numbers."""
    return {"line": "numbers", "chapter": "a", "same": [*same], "smoke": {"slope": 1.0}} | changes


TWO = {"slope": 2.0}
F, G, FG, G2 = numbers("f"), numbers("g"), numbers("f", "g"), numbers("g", smoke=TWO)
BUILT = numbers("f", constants="j", paper="p")


@pytest.mark.parametrize(
    ("fine", "lists"),
    [
        # codes that make the same numbers grow at their end, are cut there, or begin again
        (True, [F, FG, numbers("f", "g", "h")]),
        (True, [F, FG, numbers("h")]),
        (True, [F, FG, F]),
        (False, [F, FG, numbers("f", "g", "h", "i")]),
        (False, [F, FG, numbers("f", "g", "g")]),
        (False, [F, FG, numbers("f", "g", smoke=TWO)]),
        (False, [F, FG, numbers("e", "f", "g")]),
        (False, [F, FG, numbers("f", "h")]),
        (False, [F, FG, numbers("f", "g", "h", smoke=TWO)]),
        # a code that comes back brings nothing new
        (True, [F, G]),
        (True, [F, G2, F]),
        (True, [F, FG, F, FG]),
        (False, [F, G2, F, FG]),
        (False, [G, F, FG]),
        (False, [F, G, numbers("f", smoke=TWO)]),
        # another constant needs a build that has shown to change nothing, and its numbers stay
        (False, [F, FG, numbers("f", "g", constants="k")]),
        (True, [F, FG, numbers("f", "g", paper="p")]),
        *(
            (paper == "p", [BUILT, numbers("f", "g", constants=constants, paper=paper)])
            for constants in "jk"
            for paper in ("p", "q", "")
        ),
        # nor can they come by a detour
        (False, [numbers("f", "g", paper="p"), numbers("g", paper="q"),
                 numbers("g", "h", paper="q")]),
    ],
)  # fmt: skip
def test_codes_that_make_the_same_numbers_are_not_rewritten(
    repository: Records, fine: bool, lists: list[dict[str, Any]]
) -> None:
    for line in lists[:-1]:
        repository.commit(line, path=LINES)
    repository.put(lists[-1], path=LINES)
    assert (rewritten(repository.root, LINES, SINCE) == []) is fine


@pytest.mark.parametrize(
    ("codes", "found"), [(["c0de"], True), (["c0de", "0ther"], True), (["0ther"], False)]
)
def test_a_run_is_made_anew_only_if_its_code_changed(
    repository: Records, codes: list[str], found: bool
) -> None:
    invented = run(1, code="invented", **LATER)
    for entries, same in (([run(0), run(1)], ["c0de"]), ([run(0), invented], codes)):
        repository.put({"line": "runs", "file": RUNS, "same": same}, path=LINES)
        repository.commit(*entries)
    assert repository.altered() == []
    assert bool(replaced(repository.root, [RUNS], LINES, SINCE)) is found


def test_a_run_that_was_gone_for_a_time_is_remembered(repository: Records) -> None:
    lists = (
        (["c0de", "0ther"], [run(0)]),
        (["0ther"], []),
        (["0ther"], [run(code="0ther", **LATER)]),
    )
    for same, entries in lists:
        repository.put({"line": "runs", "file": RUNS, "same": same}, path=LINES)
        repository.commit(*entries)
    assert len(replaced(repository.root, [RUNS], LINES, SINCE)) == 1
    (repository.root / SINCE).unlink()
    repository.commit(run(0, code="invented", **LATER))
    assert len(replaced(repository.root, [RUNS], LINES, SINCE)) == 2


def test_minus_nothing_is_nothing(repository: Records) -> None:
    repository.commit(run(0.0))
    repository.put(run(-0.0, result=[0.7]))
    assert repository.altered()


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


def test_what_was_there_before_the_format_does_not_count(repository: Records) -> None:
    (repository.root / SINCE).unlink()
    repository.commit({"of": "another format"})
    repository.commit(run(result=[0.4]))
    repository.write(SINCE, "")
    repository.commit(run())
    assert repository.altered() == []


def test_a_merge_with_conflicts_records_nothing(repository: Records) -> None:
    repository.commit(run())
    repository.write(RUNS, "<<<<<<< HEAD\n")
    repository.commit_all()
    repository.commit(run())
    assert repository.altered() == []
    repository.commit(run(machine=None))
    assert repository.altered()


def test_a_shallow_clone_is_refused(repository: Records) -> None:
    repository.commit(run())
    repository.commit(run(), run(1))
    repository.git("clone", "--quiet", "--depth=1", f"file://{repository.root}", "clone")
    with pytest.raises(BookError, match="run git fetch --unshallow"):
        altered(repository.root / "clone", PARSERS, SINCE)
