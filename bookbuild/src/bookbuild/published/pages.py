"""A published site held against one that was built here: it is read, and neither run nor shown."""

import json
import zipfile
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from lxml import etree, html

from bookbuild.errors import BookError
from bookbuild.results.archive import HOSTILE
from bookbuild.results.contents import different

MOST = 2**26  # bytes of a file of a site
COPIES = ("_sources/", "_static/cards/", "searchindex.js")  # of pages, for search and previews
AROUND = 5  # words that are shown from where a text differs
TELLS_WHEN = ("provenance", "made-by")  # parts that say when, where and how fast a page was made


def differences(published: Path, built: Path) -> list[str]:
    """Return a sentence for each page or file of a published site that is not as built here.

    The published one is a zip file with one folder in it. Raises BookError for what is none.
    """
    names = (p.relative_to(built).as_posix() for p in built.rglob("*") if p.is_file())
    ours = {name for name in names if not name.startswith(COPIES)}
    lines: list[str] = []
    try:
        with zipfile.ZipFile(published) as file:
            members = {x.partition("/")[2]: x for x in file.namelist() if not x.endswith("/")}
            theirs = {name for name in members if not name.startswith(COPIES)}
            for name in sorted(theirs & ours):
                with file.open(members[name]) as stream:
                    lines += _apart(name, stream.read(MOST + 1), (built / name).read_bytes())
    except HOSTILE as error:
        raise BookError(f"{published} cannot be read as a site: {error!s:.80}.") from error
    lines += (f"only the published site has {name!a:.80}" for name in sorted(theirs - ours))
    lines += (f"only the site built here has {name}" for name in sorted(ours - theirs))
    return [f"{published.name}: {line}." for line in lines]


def _apart(name: str, published: bytes, built: bytes) -> Iterator[str]:
    """Yield what differs in a file, if anything does."""
    if published == built:
        return
    if name.endswith(".html"):
        texts = [_words(page) for page in (published, built)]
        pairs = enumerate(zip_longest(*texts))
        first = next((place for place, pair in pairs if len(set(pair)) > 1), None)
        if first is not None:
            before, other = (" ".join(words[first : first + AROUND]) for words in texts)
            yield f"the text of {name} differs: {before!a:.60} as published, {other!a:.60} here"
    elif name.endswith(".json"):
        as_published, here = (json.loads(content) for content in (published, built))
        for document in (as_published, here):
            if isinstance(document, dict):
                document.pop("settings", None)  # of a figure: what made it, and how fast
        yield from (f"{name}, {line}" for line in different(as_published, here, 0.0))
    else:
        yield f"{name} differs"


def _words(page: bytes) -> list[str]:
    """Return the words of a page, and the addresses of its pictures and scripts."""
    try:
        document = html.document_fromstring(page)
    except (etree.LxmlError, ValueError):
        return []
    for name in TELLS_WHEN:
        for element in document.find_class(name):
            if element.getparent() is not None:
                element.drop_tree()
    named = (
        f"{e.tag} {e.get('src') or e.get('href') or ''}"
        for e in document.iter("img", "script", "a")
    )
    return [*document.text_content().split(), *named]
