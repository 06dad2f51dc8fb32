"""A Sphinx extension that gives theorems the number of their chapter and their place on its page.

Sphinx counts through the whole book, so that a new chapter would change every number after it.
"""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from bookbuild.source.book import read_book
from bookbuild.source.chapters import BOOK

THEOREM = "theorem"  # lemmas and the like are counted with theorems, see defaults.yml


def number_theorems(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Replace the numbers of the theorems on the pages of cited folders; name no outdated page."""
    book = read_book(Path(app.srcdir))
    for page, numbers in env.toc_fignumbers.items():
        if chapter := book.chapter_number(page.removeprefix(f"{BOOK}/")):
            # Sphinx expects whole numbers here, and only prints them
            labels: dict[str, Any] = numbers.get(THEOREM, {})
            labels.update({label: (*chapter, n) for n, label in enumerate(labels, start=1)})
    return []


def setup(app: Sphinx) -> dict[str, bool]:
    """Register it, after Sphinx's own numbers."""
    app.connect("env-get-updated", number_theorems, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
