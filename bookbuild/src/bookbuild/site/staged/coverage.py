"""The map of coverage: where the book treats each sentence, caption and display of the paper."""

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

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
}


class Piece(NamedTuple):
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
    """Return the counts of each tag, and every place of the paper behind a fold; empty for none.

    Neighbouring pieces of which the map says the same are one line.
    """
    if not pieces:
        return ""
    names = [chapter.name for chapter in chapters]
    number = Counter((piece.tag, piece.kind) for piece in pieces)
    numbers = {tag: [number[tag, kind] for kind in KINDS] for tag in TAGS}
    numbers["all"] = [sum(column) for column in zip(*numbers.values(), strict=True)]
    places = []
    for name, found in groupby(pieces, lambda piece: piece.place):
        group = list(found)
        stretches = [list(same) for _, same in groupby(group, lambda piece: piece[2:])]
        counts = Counter(piece.tag for piece in group)
        places.append((name, _page(name, names), counts, stretches))
    return render(
        "coverage.html",
        numbers=numbers,
        places=places,
        rows={finding.claim.id: finding for finding in findings},
        tags=TAGS,
        kinds=KINDS,
        pages={name.rpartition("/")[2]: f"{name}.html" for name in names},
    )


def _page(place: str, chapters: Sequence[str]) -> str:
    """Return the page of the section that a place is in, seen from the book; empty if unknown."""
    section = place.removeprefix("§").partition(".")[0]
    start = f"paper/{section.zfill(2)}_" if section.isdecimal() else f"paper/{section}_"
    return next((f"{name}.html" for name in chapters if name.startswith(start)), "")
