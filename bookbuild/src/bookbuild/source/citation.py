"""CITATION.cff: who made the book, and which paper it recomputes."""

from pathlib import Path
from typing import Any

from bookbuild.errors import raise_if_any
from bookbuild.schema import faults, load

SOURCE = "CITATION.cff"
SCHEMA = Path(__file__).with_name("citation.schema.json")


def read_citation(root: Path) -> dict[str, Any]:
    """Return what CITATION.cff says; raise BookError with a sentence for each fault of it."""
    cited: dict[str, Any] = load(root / SOURCE, SOURCE)
    raise_if_any(f"{SOURCE}: {fault.clause}." for fault in faults(cited, SCHEMA))
    return cited


def paper(cited: dict[str, Any]) -> dict[str, Any]:
    """Return the article that the book recomputes."""
    return next(item for item in cited["references"] if item["type"] == "article")


def names(cited: dict[str, Any]) -> list[str]:
    """Return the authors of the book as archives list them: people by family name first."""
    return [
        who["name"] if "name" in who else f"{who['family-names']}, {who['given-names']}"
        for who in cited["authors"]
    ]


def agents(authors: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return authors as schema.org has them: who has a single name is an organization."""
    return [
        {"@type": "Organization", "name": who["name"]}
        if "name" in who
        else {"@type": "Person", "givenName": who["given-names"], "familyName": who["family-names"]}
        | ({"@id": who["orcid"]} if "orcid" in who else {})
        for who in authors
    ]


def article(cited: dict[str, Any]) -> dict[str, Any]:
    """Return the paper as schema.org has articles."""
    said = paper(cited)
    return {
        "@type": "ScholarlyArticle",
        "@id": said["url"],
        "name": said["title"],
        "author": agents(said["authors"]),
        "datePublished": str(said["year"]),
        "version": said.get("notes", ""),
    }


def licence(cited: dict[str, Any]) -> str:
    """Return the address of the licence."""
    return f"https://spdx.org/licenses/{cited['license']}"
