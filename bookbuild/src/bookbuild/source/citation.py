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
