"""Pages that have not changed are not read again, and the site is the one of a fresh build."""

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


def files(site: Path) -> dict[str, bytes]:
    paths = (path for path in site.rglob("*") if path.is_file())
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in paths}


def test_an_edited_page_alone_is_read_and_the_site_is_as_if_all_were(toy: Toy) -> None:
    toy.edit(LINE, "The slope is", "(steep)=\n## Steep\n\nHere the slope is")
    toy.edit(SQUARE, "See [", "After {ref}`steep`, see [")
    toy.build()
    toy.edit(LINE, "## Steep", "## Steep, and named anew")
    toy.build()
    assert read(toy) == {"book/paper/01_line"}
    toy.edit(CLAIMS, "The line has no end.", "The line goes on.")
    toy.build()
    assert 0 < len(read(toy)) < 5
    found = files(toy.settings().site)
    assert b"named anew" in found["book/beyond/01_square.html"]
    assert b"The line goes on." in found["book/verdicts.html"]
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
