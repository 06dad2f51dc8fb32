"""The drill of forgeries, without the site: nothing executes, nothing is staged, all is found."""

from pathlib import Path

import pytest

from bookbuild.execution.display import PlainDisplay
from bookbuild.pipeline import build_book
from tools.forgeries.catalogue import CATALOGUE, Forgery
from tools.forgeries.trial import tried
from tools.toy_book import Toy, new_toy


def test_there_are_enough_and_each_is_another() -> None:
    assert len({forgery.name for forgery in CATALOGUE}) == len(CATALOGUE) >= 15


@pytest.mark.usefixtures("without_site")
@pytest.mark.parametrize("forgery", CATALOGUE, ids=lambda forgery: forgery.name)
def test_a_forgery_executes_nothing_reaches_no_site_and_is_found(
    toy: Toy, tmp_path: Path, forgery: Forgery
) -> None:
    folder = tmp_path / "forged"
    folder.mkdir()

    def build(archive: Path) -> None:
        book = new_toy(folder / "book")
        build_book(book.settings(published=archive), PlainDisplay(lambda _: None), print)

    row = tried(forgery, toy, folder, build)
    assert (row.executed, row.reached, row.found) == (False, False, True), row.said
    assert "traceback" not in row.said
