"""The history of expectations, on small repositories, and the record of this one."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from evidence.preregistration import derive_records, recorded
from repositories import Repository
from tools.this_book import ROOT
from toy_book import LINE


class Book(Repository):
    """A repository with one chapter and its ledger."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, "data", "book/paper")

    def put(self, expect: Any, code: str, *, name: str = "a", key: str = "slope") -> None:
        row = {"id": name, "measure": key, "chapter": LINE, "expect": expect}
        self.write("data/claims.yml", yaml.safe_dump([row] if expect else []))
        self.write(f"book/{LINE}.md", code)

    def commit(self, *arguments: Any, **names: str) -> None:
        self.put(*arguments, **names)
        self.commit_all()

    def told(self) -> dict[str, Any]:
        return derive_records(self.root)


@pytest.fixture
def repository(tmp_path: Path) -> Book:
    return Book(tmp_path / "repository")


FIVE, SIX = {"at_most": 5}, {"at_most": 6}
REPORTS = 'report("slope", 1.0)'


@pytest.mark.parametrize(
    ("commits", "state"),
    [
        ([(FIVE, ""), (FIVE, REPORTS)], "before"),
        ([(FIVE, REPORTS)], "together"),
        ([(None, REPORTS), (FIVE, REPORTS)], "after"),
        ([(SIX, ""), (FIVE, ""), (FIVE, REPORTS)], "before"),
        ([(FIVE, ""), (FIVE, REPORTS), (None, ""), (FIVE, REPORTS)], "before"),
        (
            [(FIVE, ""), (FIVE, 'report(f"{name}", 1.0)  # what it is called is not told')],
            "together",
        ),
        ([(FIVE, ""), (FIVE, 'for name in ("slope",): report(name, 1.0)')], "before"),
        ([(FIVE, ""), (FIVE, 'name = "pe"\nreport(f"slo{name}", 1.0)')], "before"),
    ],
)
def test_the_order_of_commits_decides(
    repository: Book, commits: list[tuple[Any, str]], state: str
) -> None:
    for commit in commits:
        repository.commit(*commit)
    assert repository.told() == {"a": {"preregistration": state, "expect": {"at_most": 5.0}}}


def test_a_change_after_the_measure_is_told_with_what_it_was(repository: Book) -> None:
    repository.commit(FIVE, "")
    repository.commit(FIVE, REPORTS)
    repository.put(SIX, REPORTS)  # not committed yet
    expected = {"preregistration": "changed", "expect": {"at_most": 6.0}, "was": [{"at_most": 5.0}]}
    assert repository.told() == {"a": expected}
    repository.commit(FIVE, REPORTS)
    assert repository.told()["a"]["preregistration"] == "before"  # the change was never committed
    repository.commit(SIX, REPORTS)
    repository.commit(FIVE, REPORTS)
    assert repository.told()["a"]["was"] == [{"at_most": 5.0}, {"at_most": 6.0}]


def test_renames_of_rows_and_measures_are_followed(repository: Book) -> None:
    repository.commit(FIVE, "")
    repository.commit(FIVE, REPORTS)
    repository.commit(FIVE, REPORTS, name="b")
    repository.commit(FIVE, 'report("ratio", 1.0)', name="b", key="ratio")
    assert repository.told() == {"b": {"preregistration": "before", "expect": {"at_most": 5.0}}}
    repository.commit(SIX, 'report("ratio", 1.0)', name="b", key="ratio")
    assert repository.told()["b"]["preregistration"] == "changed"


def test_parallel_branches_cannot_be_ordered(repository: Book) -> None:
    repository.commit(None, "")
    repository.git("checkout", "--quiet", "-b", "other")
    repository.commit(FIVE, "")
    repository.git("checkout", "--quiet", "main")
    repository.commit(None, REPORTS)
    repository.git("merge", "--quiet", "--no-edit", "other")
    assert repository.told()["a"]["preregistration"] == "together"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="there is no git repository")
def test_the_committed_record_is_what_the_history_gives() -> None:
    stored, output = recorded(ROOT), derive_records(ROOT)
    differing = [name for name in stored | output if stored.get(name) != output.get(name)]
    assert not differing, "run make record WHAT=preregistration, and commit the file"
