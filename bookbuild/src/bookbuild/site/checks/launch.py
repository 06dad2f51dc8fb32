"""Checks that launch and edit buttons on built pages are all there and lead to existing files."""

from collections.abc import Iterator
from pathlib import Path

from bookbuild.source.addresses import Addresses
from bookbuild.source.chapters import BOOK, is_notebook

from .pages import parsed


def check_launch(site: Path, root: Path) -> Iterator[str]:
    """Yield a sentence for each page whose buttons are not those of its source."""
    addresses = Addresses.find(root)
    if addresses is None:
        return
    services = (addresses.colab_url, addresses.binder_url, f"{addresses.repository}/edit/")
    book = (site / BOOK).resolve()
    for path in sorted(book.rglob("*.html")):
        page = path.relative_to(book).with_suffix("").as_posix()
        source = root / BOOK / f"{page}.md"
        expected = {addresses.edit(page)} if source.is_file() else set()
        if expected and is_notebook(source):
            expected |= {addresses.colab(page), addresses.binder(page)}
        heads = parsed(path).find_class("bd-header-article")
        links = {href for head in heads for href in head.xpath(".//a/@href")}
        found = {link for link in links if link.startswith(services)}
        for link in sorted(found - expected):
            yield f"{page}: a button leads to {link}, which does not exist."
        for link in sorted(expected - found):
            yield f"{page}: there is no button to {link}."
