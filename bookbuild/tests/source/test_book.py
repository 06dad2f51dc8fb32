"""What a book tells the builder: read whole, and a sentence for each mistake."""

from pathlib import Path

import pytest

from bookbuild.errors import BookError
from bookbuild.source.book import Book, read_book


def written(root: Path, text: str) -> Path:
    (root / "_config.yml").write_text(text, encoding="utf-8")
    return root


def test_a_book_that_says_nothing_has_defaults(tmp_path: Path) -> None:
    assert read_book(tmp_path) == Book()
    assert read_book(written(tmp_path, "")) == Book()
    assert read_book(written(tmp_path, "title: A book\n")) == Book()


@pytest.mark.parametrize(
    ("section", "reason"),
    [
        ("1", "it is not a mapping of fields: 1"),
        ("{packages: a}", "the field 'packages' is unknown"),
        ("{package: a-b}", "the field 'package' is not the name of a package or module: 'a-b'"),
        ("{drawing: a.b}", "the field 'drawing' is not a list: 'a.b'"),
        (
            "{stored_runs: {data/d.json: 1}}",
            "the field 'stored_runs.data/d.json' is not the name of a package or module: 1",
        ),
        (
            "{measured: {data/e.json: {command: python -m e}}}",
            "the field 'measured.data/e.json.minutes' is missing",
        ),
    ],
)
def test_each_mistake_is_told_in_a_sentence(tmp_path: Path, section: str, reason: str) -> None:
    with pytest.raises(BookError) as caught:
        read_book(written(tmp_path, f"bookbuild: {section}\n"))
    assert caught.value.problems == (f"_config.yml, section bookbuild: {reason}.",)
