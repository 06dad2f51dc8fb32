"""Pages that cannot have changed are neither read nor written again; the site is a fresh one's."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bookbuild.errors import BookError

if TYPE_CHECKING:
    from conftest import Toy

LINE, SQUARE = "book/paper/01_line.md", "book/beyond/01_square.md"
CLAIMS = "data/claims.yml"


def read(toy: Toy) -> set[str]:
    """The pages that Sphinx read for the last build."""
    log = (toy.settings().build / "paper" / "site-log.txt").read_text(encoding="utf-8")
    return set(re.findall(r"^reading sources\.\.\. \[ *\d+%\] (\S+)", log, re.MULTILINE))


def written(toy: Toy) -> dict[str, int]:
    """When each page was written."""
    pages = toy.settings().stage / "_build" / "html"
    return {
        path.relative_to(pages).with_suffix("").as_posix(): path.stat().st_mtime_ns
        for path in pages.glob("book/*/*.html")
    }


def files(site: Path) -> dict[str, bytes]:
    paths = (path for path in site.rglob("*") if path.is_file())
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in paths}


def test_an_edited_page_alone_is_read_and_the_site_is_as_if_all_were(toy: Toy) -> None:
    toy.edit(LINE, "The slope is", "(steep)=\n## Steep\n\nYonder the slope is")
    toy.edit(SQUARE, "See [", "```{index} square\n```\n\nAfter {ref}`steep`, see [")
    toy.build()
    toy.edit(LINE, "## Steep", "## Steep, and named anew")
    toy.build()
    assert read(toy) == {"book/paper/01_line"}
    toy.edit(CLAIMS, "The line has no end.", "The line goes on.")
    toy.build()
    assert 0 < len(read(toy)) < 5
    toy.edit(LINE, "Yonder the slope is", "The slope is")
    toy.build()
    found = files(toy.settings().site)
    assert b"named anew" in found["book/beyond/01_square.html"]
    assert b"The line goes on." in found["book/verdicts.html"]
    shutil.rmtree(toy.settings().site.parent)
    toy.build()
    assert files(toy.settings().site) == found


def test_other_pages_are_written_again_where_they_show_what_has_changed(toy: Toy) -> None:
    toy.build()
    before = written(toy)
    toy.edit(SQUARE, "See [", "Look at [")
    toy.build()
    prose = written(toy)
    assert {page for page in before if prose[page] != before[page]} == {"book/beyond/01_square"}
    toy.edit(SQUARE, "# A square", "# The square")
    toy.build()
    title = written(toy)
    assert all(title[page] != prose[page] for page in prose)
    style = toy.root / "book" / "_static" / "new.css"
    style.parent.mkdir(exist_ok=True)
    style.write_text("p { color: red }", encoding="utf-8")
    toy.build()
    assert all(there != title[page] for page, there in written(toy).items())


def test_what_a_page_shows_no_more_is_gone(toy: Toy) -> None:
    toy.build()
    shown = set(files(toy.settings().site / "_images"))
    toy.edit(SQUARE, "xs = [0, 1, 2, 3]", "xs = [0, 1, 2]")
    toy.build()
    found = files(toy.settings().site)
    # its plot has another name now
    assert len(shown - set(files(toy.settings().site / "_images"))) == 1
    shutil.rmtree(toy.settings().site.parent)
    toy.build()
    assert files(toy.settings().site) == found


def test_a_warning_is_said_until_its_cause_is_gone(toy: Toy) -> None:
    toy.build()
    toy.edit(SQUARE, "See [", "See {ref}`nowhere` and [")
    for _ in range(2):
        with pytest.raises(BookError, match="nowhere"):
            toy.build()
    toy.edit(SQUARE, "{ref}`nowhere` and ", "")
    toy.build()


def test_all_is_read_again_where_the_configuration_is_another(toy: Toy) -> None:
    toy.build()
    toy.edit("_config.yml", "nitpicky: true", "nitpicky: true\n    today: tomorrow")
    toy.build()
    assert {"book/paper/01_line", "book/beyond/01_square"} <= read(toy)
