"""Everything from scratch: what it costs is told first, and a second call goes on."""

import pytest

from bookbuild.costs import UNTIMED
from bookbuild.errors import BookError
from bookbuild.published import scratch
from tools.toy_book import LINE, SQUARE, Command, Toy


@pytest.mark.usefixtures("without_site")
def test_everything_is_computed_in_a_folder_of_its_own_and_once(toy: Toy) -> None:
    told, settings = scratch.reproduce_from_scratch(toy.settings(), *toy.heard())
    assert toy.lines[:4] == [
        f"{LINE}: 1 judged rows, {UNTIMED / 60:.1f} min guessed",
        f"{SQUARE}: 1 judged rows, {UNTIMED / 60:.1f} min guessed",
        "all 2 judged rows: 2 min guessed",
        "2 of 2 judged rows (100.0%) rest on no stored value",
    ]
    assert (told.executed, told.cached) == (2, 0)  # though the book itself has been built
    assert settings.root == toy.root / scratch.FOLDER
    told, _ = scratch.reproduce_from_scratch(toy.settings(), *toy.heard())
    assert (told.executed, told.cached) == (0, 2)


def test_another_start_is_refused(toy: Toy, command: Command) -> None:
    assert command(toy.root, "build", "--device", "cpu", "--from", "x").startswith("FROM is one of")


def test_outside_a_book_nothing_is_copied(toy: Toy) -> None:
    (toy.root / "CITATION.cff").unlink()
    with pytest.raises(BookError, match=r"There is no CITATION\.cff here"):
        scratch.reproduce_from_scratch(toy.settings(), *toy.heard())
