"""A published site held against one that was built here: it is read, and neither run nor shown."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

from lxml import etree, html

from bookbuild.errors import BookError
from bookbuild.results.contents import different

MOST = 2**26  # bytes of a file of a site
COPIES = ("_sources/", "_static/cards/", "searchindex.js")  # of pages, for search and previews
AROUND = 5  # words that are shown from where a text differs
TELLS_WHEN = (  # parts of a page that say when, where and how fast it was made
    ".//*[contains(concat(' ', @class, ' '), ' provenance ')]",
    ".//*[contains(concat(' ', @class, ' '), ' made-by ')]",
)


def differences(published: Path, built: Path) -> list[str]:
    """Return a sentence for each page or file of a published site that is not as built here.

    Args:
        published: the zip file of the site, with one folder in it.
        built: the folder of the site that was built.

    Raises:
        BookError: for what is no zip file.
    """
    ours = {p.relative_to(built).as_posix() for p in built.rglob("*") if p.is_file()}
    ours, theirs = {name for name in ours if not name.startswith(COPIES)}, {}
    found: list[str] = []
    try:
        with zipfile.ZipFile(published) as file:
            for info in file.infolist():
                name = info.filename.partition("/")[2]
                if info.is_dir() or name.startswith(COPIES):
                    continue
                theirs[name] = info
                if name in ours:
                    with file.open(info) as stream:
                        content = stream.read(MOST + 1)
                    here = (built / name).read_bytes()
                    found += _apart(name, content, here)
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, ValueError) as error:
        raise BookError(f"{published} cannot be read as a site: {error!s:.80}.") from error
    found += (f"only the published site has {name!a:.80}" for name in sorted(theirs.keys() - ours))
    found += (f"only the site built here has {name}" for name in sorted(ours - theirs.keys()))
    return [f"{published.name}: {line}." for line in found]


def _apart(name: str, there: bytes, here: bytes) -> Iterator[str]:
    """Yield what differs in a file, if anything does."""
    if there == here:
        return
    if name.endswith(".html"):
        one, other = _words(there), _words(here)
        if one != other:
            first = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
            told = (" ".join(words[first : first + AROUND]) for words in (one, other))
            yield "the text of {} differs: {!a:.60} as published, {!a:.60} here".format(name, *told)
    elif name.endswith(".json"):
        try:
            pair = [json.loads(content) for content in (there, here)]
        except (ValueError, RecursionError):
            yield f"{name} cannot be read as JSON"
            return
        for document in pair:
            if isinstance(document, dict):
                document.pop("settings", None)  # of a figure: what made it, and how fast
        yield from (f"{name}, {line}" for line in different(pair[0], pair[1], 0.0))
    else:
        yield f"{name} differs"


def _words(page: bytes) -> list[str]:
    """Return the words of a page, and the addresses of its pictures and scripts."""
    try:
        document = html.document_fromstring(page)
    except (etree.LxmlError, ValueError):
        return []
    for path in TELLS_WHEN:
        for element in document.xpath(path):
            element.drop_tree()
    named = (
        f"{e.tag} {e.get('src') or e.get('href') or ''}"
        for e in document.iter("img", "script", "a")
    )
    return [*document.text_content().split(), *named]
