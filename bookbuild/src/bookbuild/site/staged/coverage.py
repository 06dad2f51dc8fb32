"""The map of coverage: where the book treats each sentence, caption and display of the paper."""

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from bookbuild.ledger.claims import Finding
from bookbuild.ledger.templates import render
from bookbuild.source.chapters import Chapter

COVERAGE = Path("data/coverage.csv")
KINDS = ("sentence", "caption", "display")
# What the book has of a piece, in the order of the page, with what the page says of it.
TAGS: Mapping[str, str] = {
    "row": "claimed, and judged by rows of the ledger",
    "equation": "held by a function and a test",
    "erratum": "on the page of errata",
    "argument": "a step of a proof or a reason for a claim",
    "definition": "a definition or notation",
    "setting": "a setting of an experiment",
    "cited": "what other work has shown",
    "motivation": "motivation and outlook",
    "outline": "where to find what in the paper",
    "open": "could be tested, and has no row yet",
}


@dataclass(frozen=True)
class Piece:
    """A sentence of the text or of a caption, or a display, named by its place and position.

    `rows` are ids of the ledger, `equations` entries of the page of equations, and `errata` anchors
    of the page of errata.
    """

    place: str
    position: int
    kind: str
    tag: str
    rows: tuple[str, ...] = ()
    equations: tuple[str, ...] = ()
    errata: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stretch:
    """Neighbouring pieces of which the map says the same, with the findings of their rows."""

    first: int
    last: int
    piece: Piece
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Place:
    """A section or a figure of the paper: its stretches, and how often it has each tag."""

    name: str
    page: str
    stretches: tuple[Stretch, ...]
    tags: Mapping[str, int]


def read_coverage(root: Path) -> list[Piece]:
    """Return the pieces of the paper in its order; none for a book without the map."""
    path = root / COVERAGE
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        return [
            Piece(
                row["place"],
                int(row["position"]),
                row["kind"],
                row["tag"],
                tuple(row["rows"].split()),
                tuple(filter(None, row["equations"].split(";"))),
                tuple(row["errata"].split()),
            )
            for row in csv.DictReader(stream)
        ]


def coverage_map(
    pieces: Sequence[Piece], findings: Sequence[Finding], chapters: Sequence[Chapter]
) -> str:
    """Return the counts of each tag, and every place of the paper behind a fold; empty for none."""
    if not pieces:
        return ""
    rows = {finding.claim.id: finding for finding in findings}
    names = [chapter.name for chapter in chapters]
    counts = {tag: _counts(p for p in pieces if p.tag == tag) for tag in TAGS}
    counts["all"] = _counts(pieces)
    places = [
        _place(name, list(group), rows, names)
        for name, group in groupby(pieces, lambda piece: piece.place)
    ]
    pages = {name.rpartition("/")[2]: f"{name}.html" for name in names}
    return render(
        "coverage.html", counts=counts, places=places, tags=TAGS, kinds=KINDS, pages=pages
    )


def _counts(pieces: Iterable[Piece]) -> list[int]:
    """Return how many pieces are of each kind, and how many there are."""
    counts = Counter(piece.kind for piece in pieces)
    return [*(counts[kind] for kind in KINDS), counts.total()]


def _place(
    name: str, pieces: Sequence[Piece], rows: Mapping[str, Finding], chapters: Sequence[str]
) -> Place:
    said = groupby(pieces, lambda p: (p.kind, p.tag, p.rows, p.equations, p.errata))
    stretches = []
    for _, group in said:
        same = list(group)
        found = tuple(rows[row] for row in same[0].rows if row in rows)
        stretches.append(Stretch(same[0].position, same[-1].position, same[0], found))
    counts = Counter(piece.tag for piece in pieces)
    tags = {tag: counts[tag] for tag in TAGS if counts[tag]}
    return Place(name, _page(name, chapters), tuple(stretches), tags)


def _page(place: str, chapters: Sequence[str]) -> str:
    """Return the page of the section that a place is in, seen from the book; empty if unknown."""
    section = place.removeprefix("§").partition(".")[0]
    start = f"paper/{section.zfill(2)}_" if section.isdecimal() else f"paper/{section}_"
    return next((f"{name}.html" for name in chapters if name.startswith(start)), "")
