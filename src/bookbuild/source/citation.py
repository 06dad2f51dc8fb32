"""CITATION.cff: who made the book, and which paper it recomputes."""

from pathlib import Path
from typing import Any

from bookbuild.schema import load

SOURCE = "CITATION.cff"


def read_citation(root: Path) -> dict[str, Any]:
    """Return what CITATION.cff says; raise BookError where there is none."""
    return load(root / SOURCE, SOURCE)


def paper(cited: dict[str, Any]) -> dict[str, Any]:
    """Return the article that the book recomputes."""
    return next(item for item in cited["references"] if item["type"] == "article")


def article(cited: dict[str, Any]) -> dict[str, Any]:
    """Return the paper as schema.org has articles."""
    said = paper(cited)
    return {
        "@type": "ScholarlyArticle",
        "@id": said["url"],
        "name": said["title"],
        "author": [
            {"@type": "Person", "givenName": who["given-names"], "familyName": who["family-names"]}
            for who in said["authors"]
        ],
        "datePublished": str(said["year"]),
        "version": said["notes"],
    }


def licence(cited: dict[str, Any]) -> str:
    """Return the address of the licence."""
    return f"https://spdx.org/licenses/{cited['license']}"
