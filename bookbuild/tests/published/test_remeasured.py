"""Files that a command measures: made once from the same sources, and a sentence where not."""

from pathlib import Path

import pytest

from bookbuild.errors import BookError
from bookbuild.published.remeasured import measure_again
from bookbuild.source.book import Measured, read_book
from tools.this_book import ROOT

FILE = "data/times.json"
COUNTS = (
    "import pathlib as p; n = p.Path('runs'); n.write_text(n.read_text() + '.' if n.exists() else "
    "'.'); p.Path('data/times.json').write_text(str(len(n.read_text())))"
)


def place(root: Path) -> Path:
    for name in ("src", "data"):
        (root / name).mkdir()
    (root / FILE).write_text("stored", encoding="utf-8")
    return root


def measured(command: str, requirements: str = "") -> dict[str, Measured]:
    return {FILE: Measured(command, 1, requirements)}


def test_a_file_is_made_once_and_put_in_place_again(tmp_path: Path) -> None:
    root, told = place(tmp_path), []
    asked = measured(f'python -c "{COUNTS}"')
    measure_again(asked, root, told.append)
    (root / FILE).write_text("stored", encoding="utf-8")  # the next call copies what is committed
    measure_again(asked, root, told.append)
    assert (root / FILE).read_text(encoding="utf-8") == "1"
    assert len(told) == 1


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("python -c 'import sys; sys.exit(\"Coq is needed\")'", "Coq is needed"),
        ("python -c 'pass'", "python -c 'pass' does not write it"),
        ("no-such-program", "the program no-such-program is not installed"),
        ("python -c 'import sys; sys.exit(1)'", "its command said nothing"),
    ],
)
def test_what_is_not_made_is_told_in_a_sentence(tmp_path: Path, command: str, reason: str) -> None:
    with pytest.raises(BookError, match=rf"^{FILE} cannot be made: {reason}\.$"):
        measure_again(measured(command), place(tmp_path), str)


def test_every_stored_number_of_this_book_is_made_by_something() -> None:
    from bookbuild.source.chapters import read_chapters, read_toc

    book = read_book(ROOT)
    known = {*book.stored_runs, *book.measured}
    chapters = read_chapters(ROOT, read_toc(ROOT))
    read = {file for chapter in chapters for file in chapter.data if file.endswith(".json")}
    assert read <= known
    assert all((ROOT / file).is_file() for file in book.measured)
