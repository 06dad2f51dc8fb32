"""Records are carried over an edit that changes no number, and over no other."""

import json
from typing import Any

import pytest

from bookbuild.errors import BookError
from bookbuild.ledger.stored import RUNS, SEEDS, read_record
from bookbuild.results.inventory import list_results
from bookbuild.results.keys import chapter_fingerprint
from bookbuild.source.chapters import read_chapter
from tools.records.carry import run_carry
from tools.toy_book import LINE, Command, Toy

ROW = {"measure": "slope", "over": None, "values": [2.0], "verdicts": ["reproduced"]}


@pytest.fixture
def recorded(toy: Toy) -> Toy:
    """The toy book as a repository, with a record of its first chapter that is current."""
    (toy.root / ".gitignore").write_text("_build\n__pycache__\n")
    toy.git("init", "--quiet")
    record = {
        "commit": "0" * 12, "device": "cpu", "fingerprint": fingerprint(toy), "seconds": 1.0,
        "seeds": [100], "rows": {"line-slope": ROW},
    }  # fmt: skip
    text = json.dumps({"profile": "paper", "chapters": {LINE: record}})
    (toy.root / SEEDS).write_text(text, encoding="utf-8")
    commit(toy)
    return toy


def commit(toy: Toy) -> str:
    toy.git("add", "--all")
    toy.git("commit", "--quiet", "--message=edit")
    return toy.git("rev-parse", "--short=12", "HEAD").strip()


def fingerprint(toy: Toy) -> str:
    return chapter_fingerprint(read_chapter(toy.root, LINE), toy.settings())


def record(toy: Toy) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((toy.root / SEEDS).read_text(encoding="utf-8"))
    return found["chapters"][LINE]


def carry(toy: Toy) -> list[str]:
    return run_carry(toy.settings(), *toy.heard())


def test_an_edit_that_changes_no_number_is_carried_over(recorded: Toy) -> None:
    before = fingerprint(recorded)
    recorded.edit("src/toy/line.py", "point", "place")
    made = commit(recorded)
    after = fingerprint(recorded)
    assert after != before
    assert carry(recorded) == []
    (carried,) = record(recorded)["carried"]
    assert carried.pop("equal") == 1  # the toy has one measure, and no array
    assert carried == {"from": before, "to": after, "commit": made, "witness": "smoke"}
    commit(recorded)
    assert carry(recorded) == []
    assert recorded.lines == ["all records are current; there is nothing to carry over"]
    recorded.edit("src/toy/line.py", "place", "spot")
    commit(recorded)
    assert carry(recorded) == []
    assert [each["from"] for each in record(recorded)["carried"]] == [before, after]


def test_an_edit_that_changes_a_number_is_not(recorded: Toy) -> None:
    recorded.edit("src/toy/line.py", "2.0 * point", "2.0000000001 * point")
    commit(recorded)
    assert carry(recorded) == [LINE]
    assert "carried" not in record(recorded)
    assert any("differ, not carried over" in line for line in recorded.lines)
    assert recorded.git("status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("old", "new", "links"), [("point", "place", ["then"]), ("2.0 * point", "3.0 * point", [])]
)
def test_stored_runs_go_along_with_the_chapters_that_read_them(
    recorded: Toy, monkeypatch: pytest.MonkeyPatch, old: str, new: str, links: list[str]
) -> None:
    file, root = "data/points.csv", recorded.root
    recorded.edit("_config.yml", "  stored_runs:", f"  stored_runs:\n    {file}: unread")
    now = {file: "now"}
    monkeypatch.setattr(
        "tools.records.carry._codes", lambda _, at: now if at.root == root else {file: "then"}
    )
    recorded.edit("src/toy/line.py", old, new)
    commit(recorded)
    carry(recorded)
    carries = read_record(root / RUNS).get(file, [])
    assert [(each["from"], each["to"]) for each in carries] == [(then, "now") for then in links]


def test_a_size_that_the_smoke_profile_never_sees_is_looked_at_in_the_other(
    recorded: Toy,
) -> None:
    """Equal in smoke, other in the paper profile."""
    sized = "SIZE = {'smoke': 1.0, 'paper': 1.0}\nreport('sized', SIZE[profile], judged=False)"
    recorded.append(LINE, sized)
    recorded.edit(str(SEEDS), record(recorded)["fingerprint"], fingerprint(recorded))
    commit(recorded)
    recorded.edit(f"book/{LINE}.md", "'paper': 1.0", "'paper': 2.0")
    commit(recorded)
    assert carry(recorded) == [LINE]
    assert any("(paper profile)" in line for line in recorded.lines)


def test_an_edit_that_is_not_committed_is_refused(recorded: Toy) -> None:
    recorded.edit("src/toy/line.py", "point", "place")
    with pytest.raises(BookError, match="commit the edit first"):
        carry(recorded)


def test_a_record_of_code_that_is_nowhere_is_left_alone(recorded: Toy) -> None:
    recorded.edit(str(SEEDS), record(recorded)["fingerprint"], "0" * 32)
    commit(recorded)
    assert carry(recorded) == [LINE]
    assert "none of the last" in recorded.lines[0]


def test_what_was_executed_before_the_edit_is_not_kept_as_of_now(recorded: Toy) -> None:
    recorded.edit("src/toy/line.py", "point", "place")
    commit(recorded)
    carry(recorded)
    items = [item for item in list_results(recorded.settings()) if "smoke" in item.made_for]
    assert [(item.name, item.state) for item in items] == [(LINE, "current")]
    assert not (recorded.settings().build / "carry").exists()


def test_the_command_ends_with_one_where_something_is_left(recorded: Toy, command: Command) -> None:
    recorded.edit("src/toy/line.py", "2.0 * point", "3.0 * point")
    commit(recorded)
    assert command(recorded.root, "carry", "--jobs", "1") == (
        f"The records of these chapters could not be carried over: {LINE}."
    )
