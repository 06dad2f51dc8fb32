"""Fields of a book that are missing or wrong: a sentence for each, before anything is executed."""

import copy
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from bookbuild.cli.book import TEMPLATE
from bookbuild.errors import BookError
from bookbuild.ledger.claims import read_claims
from bookbuild.source.addresses import Addresses
from bookbuild.source.book import check_config, read_book
from bookbuild.source.chapters import read_chapters, read_toc
from bookbuild.source.citation import agents, article, licence, names, read_citation

FILES = ("_config.yml", "CITATION.cff", "data/claims.yml", "_toc.yml")
WRONG = ("gone", None, 5, [1], {"a": 1}, "x")
CHAPTER = "book/paper/01_distance.md"


def read(root: Path) -> None:
    """Read all that a build reads before it executes anything."""
    read_book(root)
    check_config(root)
    cited = read_citation(root)
    chapters = read_chapters(root, read_toc(root))
    read_claims(root, [chapter.name for chapter in chapters])
    Addresses.find(root)
    assert "; ".join(names(cited))
    assert all((agents(cited["authors"]), article(cited), licence(cited)))


def places(document: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all fields and items of a document."""
    for key in document if isinstance(document, dict) else range(len(document)):
        yield (*above, key)
        if isinstance(document[key], dict | list):
            yield from places(document[key], (*above, key))


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TEMPLATE, tmp_path / "book"))


@pytest.mark.parametrize("file", FILES)
def test_every_field_may_be_wrong(book: Path, file: str) -> None:
    read(book)
    document = yaml.safe_load((book / file).read_text(encoding="utf-8"))
    told = set()
    for *above, last in places(document):
        for wrong in WRONG:
            edited = copy.deepcopy(document)
            node = edited
            for key in above:
                node = node[key]
            if wrong == "gone":
                del node[last]
            else:
                node[last] = wrong
            (book / file).write_text(yaml.safe_dump(edited), encoding="utf-8")
            with suppress(BookError):
                read(book)
                continue
            told.add((*above, last))
    assert len(told) >= 2


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("    name: fig-distance\n", "    width: 5\n", "has no mystnb.figure.name"),
        ("    alt: The", "    alt: a: The", "cannot be read: Code cell 2 at line 17"),
        ('device = "auto"', "device =", "its cell of parameters is no Python"),
        ("kernelspec: {name", "kernelspec: {{name", "cannot be read"),
        (
            "alt: The mean squared distance grows in proportion",
            "alt: It grows.\n#",
            "only 'It grows.'",
        ),
        ("profile = ", "profil = ", "sets an unknown parameter 'profil'"),
    ],
)
def test_what_a_chapter_lacks_is_told_before_it_is_executed(
    book: Path, old: str, new: str, told: str
) -> None:
    path = book / CHAPTER
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(BookError, match=re.escape(told)):
        read(book)
