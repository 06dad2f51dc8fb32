"""The names of figures, theorems and symbols, so that a search finds them at once."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lxml.html import HtmlElement

from .formulas import keys, readable

NUMBERED = re.compile(
    r"(figure|theorem|corollary|hypothesis|definition|assumption|proposition)-(\d+)"
)
SHORT = {"figure": "fig"}
LONGEST = 140  # characters of what is said of a name
SPACE = re.compile(r"\s+")


def names_of(pages: Mapping[str, HtmlElement], glossary: str) -> list[dict[str, Any]]:
    """Return each name with its keys, its address and a few words.

    Keys are in lower case, without spaces and signs: "figure4", "fig4", "alpha3".
    """
    found = [entry for name, page in pages.items() for entry in _numbered(name, page)]
    found.sort(key=lambda entry: (entry["kind"], entry["number"]))
    symbols = _symbols(glossary, pages[glossary]) if glossary in pages else ()
    return [*found, *symbols]


def words(tag: HtmlElement) -> str:
    """Return the text of a part of a page, with its formulas as plain text."""
    return SPACE.sub(" ", "".join(_words(tag))).strip()


def _words(tag: HtmlElement) -> Iterator[str]:
    if "math" in tag.classes:
        yield readable(tag.text_content())
        return
    yield tag.text or ""
    for child in tag:
        if isinstance(child.tag, str) and "headerlink" not in child.classes:
            yield from _words(child)
        yield child.tail or ""


def _numbered(name: str, page: HtmlElement) -> Iterator[dict[str, Any]]:
    """Yield what a page has under the paper's own numbers."""
    for place in page.xpath("//article//*[@id]"):
        match = NUMBERED.fullmatch(place.get("id"))
        if not match:
            continue
        kind, number = match.groups()
        said = place.find(".//figcaption") if place.tag == "figure" else place
        text = words(place if said is None else said)
        forms = dict.fromkeys((kind, SHORT.get(kind, kind)))
        yield {
            "kind": kind,
            "number": int(number),
            "name": f"{kind.capitalize()} {number}",
            "keys": [f"{form}{number}" for form in forms],
            "href": f"{name}#{match[0]}",
            "text": _cut(text.removeprefix(f"{kind.capitalize()} {number}").lstrip(". ")),
        }


def _symbols(name: str, page: HtmlElement) -> Iterator[dict[str, Any]]:
    """Yield each symbol of the glossary, with its meaning."""
    for row in page.xpath("//article//tr[td]"):
        cells = row.findall("td")
        formulas = cells[0].find_class("math")
        section = next((s.get("id") for s in row.iterancestors("section")), "")
        for formula in formulas[:1]:
            tex = formula.text_content()
            yield {
                "kind": "symbol",
                "name": readable(tex),
                "keys": keys(tex),
                "href": f"{name}#{section}",
                "text": _cut(words(cells[1])),
            }


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rsplit(' ', 1)[0]} …"
