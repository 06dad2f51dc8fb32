"""How a page is cited: the box at its end, with BibTeX, from CITATION.cff."""

import re
from pathlib import Path

from bookbuild.ledger.templates import render
from bookbuild.source.addresses import Addresses
from bookbuild.source.book import read_book
from bookbuild.source.chapters import BOOK
from bookbuild.source.citation import names, read_citation

TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


def citation(root: Path, page: str) -> str:
    """Return the box of a page, such as beyond/01_square, as MyST; empty where it has none."""
    source, book = root / BOOK / f"{page}.md", read_book(root)
    folder, _, name = page.rpartition("/")
    if folder not in book.cited or not source.is_file():
        return ""
    title = TITLE.search(source.read_text(encoding="utf-8"))
    cited, addresses = read_citation(root), Addresses.find(root)
    return render(
        "cite.md",
        authors=names(cited),
        book=cited["title"],
        key=f"{book.package}-{name.lstrip('0123456789_').replace('_', '-')}",
        number=".".join(book.chapter_number(page)),
        title=title[1] if title else name,
        url=f"{addresses.site}{BOOK}/{page}.html" if addresses else "",
        version=cited["version"],
        year=str(cited["date-released"])[:4],
    )
