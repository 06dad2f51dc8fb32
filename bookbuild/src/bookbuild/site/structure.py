"""What Sphinx says of the pages of a book before anything is executed.

It reads them without code. A zero stands for each number, and an empty file for what builds write.
"""

import gc
import io
import re
import shutil
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bookbuild.reporting.expressions import ROLE
from bookbuild.source.book import read_config
from bookbuild.source.chapters import BOOK, TOC

from .cells import BADGE, BLOCK
from .numbers import QUOTE
from .pieces import GENERATED

CITED = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")
INLINE = (ROLE, QUOTE, BADGE, CITED)  # which other checks read
# the reference of the code is read by importing it, and works are looked up apart
LEFT_OUT = re.compile(r"^(`{3,})\{(?:eval-rst|bibliography)\}.*?^\1$", re.DOTALL | re.MULTILINE)
WRITTEN = re.compile(rf"(\{{(?:include|figure)\}} *)\S*{GENERATED}/\S+")
EMPTY = "empty.svg"
EXTENSIONS = ("myst_parser", "sphinx_design", "sphinx_togglebutton")  # of Jupyter Book
UNNEEDED = ("sphinx.ext.", "bookbuild.")  # extensions that read code, or decide how pages look
SAID = re.compile(r"^([\w./-]+\.md)(?::(\d+))?: [A-Z]+: (.+?)\.?(?: \[[\w.]+\])?$", re.MULTILINE)
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def structure_slips(
    root: Path, pages: Mapping[str, str], shown: Set[str]
) -> Iterator[tuple[str, int, str]]:
    """Yield the file, the line and the words of each warning.

    `pages` begin with the front page and have blank lines for code, which shows the figures of the
    names that are `shown`.
    """
    from sphinx.application import Sphinx  # which takes a while
    from sphinx.errors import SphinxError
    from sphinx.util.docutils import docutils_namespace, patch_docutils
    from sphinx_book_theme.directives import Margin

    said = io.StringIO()
    with TemporaryDirectory() as folder, patch_docutils(), docutils_namespace(), _no_collection():
        stage = Path(folder).resolve()
        ignored = shutil.ignore_patterns(GENERATED, "*.ipynb")
        shutil.copytree(root / BOOK, stage / BOOK, ignore=ignored)
        (stage / EMPTY).touch()
        for file, text in pages.items():
            (stage / file).write_text(_plain(text), encoding="utf-8")
        names = [file.removesuffix(".md") for file in pages]
        with (stage / f"{names[0]}.md").open("a", encoding="utf-8") as front:
            front.write("\n".join(["\n\n```{toctree}", *(f"/{name}" for name in names[1:]), "```"]))
        places = (stage, None, stage / "_site", stage / "_trees", "dummy")
        try:
            options = _options(root) | {"root_doc": names[0]}
            app = Sphinx(*places, options, status=None, warning=said)
            app.add_directive("margin", Margin)
            app.build(force_all=True)
        except (SphinxError, RecursionError) as error:  # pages that include one another recur
            yield TOC, 1, f"Sphinx cannot read its pages: {error}"
    words = COLOURS.sub("", said.getvalue()).replace(f"{stage}/", "")
    for file, line, message in SAID.findall(words):
        if file in pages and not any(f"'{name}'" in message for name in shown):
            yield file, int(line or 1), f"Sphinx says: {message}"


@contextmanager
def _no_collection() -> Iterator[None]:
    """Collect no garbage: searching the trees of all pages for it takes a quarter of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _options(root: Path) -> dict[str, Any]:
    """Return the options of Sphinx that decide what it says of pages."""
    config = read_config(root)
    added = config["sphinx"]["extra_extensions"]
    return config["sphinx"]["config"] | {
        "extensions": [*EXTENSIONS, *(x for x in added if not x.startswith(UNNEEDED))],
        "myst_enable_extensions": config["parse"]["myst_enable_extensions"],
        "numfig": True,
        "smartquotes": False,
    }


def _plain(text: str) -> str:
    """Return a page as long as before, without what only the builder understands."""
    for pattern in INLINE:
        text = pattern.sub(lambda match: "0" + "\n" * match[0].count("\n"), text)
    text = BLOCK.sub(lambda match: f"\n{match[2]}", text)
    text = LEFT_OUT.sub(lambda match: "\n" * match[0].count("\n"), text)
    return WRITTEN.sub(rf"\1/{EMPTY}", text)
