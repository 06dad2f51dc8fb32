"""Everything from scratch: what it costs is told first, and a second call goes on."""

import pytest

from bookbuild.errors import BookError
from bookbuild.published import scratch
from bookbuild.published.costs import UNTIMED
from running.records import Entry
from tools.toy_book import LINE, SQUARE, Command, Toy


@pytest.mark.usefixtures("without_site")
def test_everything_is_computed_in_a_folder_of_its_own_and_once(toy: Toy) -> None:
    told, settings = scratch.reproduce_from_scratch(toy.settings(), *toy.heard())
    assert toy.lines[:4] == [
        f"{LINE}: 1 judged rows, {UNTIMED / 60:.1f} min",
        f"{SQUARE}: 1 judged rows, {UNTIMED / 60:.1f} min",
        "all 2 judged rows: 2 min, and 0 stored runs, 0 core-minutes on record",
        "2 of 2 judged rows (100.0%) rest on no stored value",
    ]
    assert (told.executed, told.cached) == (2, 0)  # though the book itself has been built
    assert settings.root == toy.root / scratch.FOLDER
    told, _ = scratch.reproduce_from_scratch(toy.settings(), *toy.heard())
    assert (told.executed, told.cached) == (0, 2)


def test_a_run_that_nobody_timed_is_said_to_be_a_guess() -> None:
    class Run:
        def __init__(self, seconds: float | None) -> None:
            self.entry = Entry(1, None, None, None, {}, seconds, None, 1)

    said = scratch._taken([Run(120.0), Run(None)])
    assert said == (
        "2 stored runs, 2 core-minutes on record, 1 of them not timed, at 10 min each a guess of 10"
    )


def test_another_start_is_refused(toy: Toy, command: Command) -> None:
    assert command(toy.root, "build", "--device", "cpu", "--from", "x").startswith("FROM is one of")


def test_outside_a_book_nothing_is_copied(toy: Toy) -> None:
    (toy.root / "CITATION.cff").unlink()
    with pytest.raises(BookError, match=r"There is no CITATION\.cff here"):
        scratch.reproduce_from_scratch(toy.settings(), *toy.heard())
