"""The coverage map names every piece of the paper once, and only what the book has."""

import csv
import re
from itertools import groupby

from bookbuild.site.pieces import KINDS, TAGS, read_coverage
from tools.this_book import ROOT, claims

PIECES = read_coverage(ROOT)
PROVES = {"row": "rows", "equation": "equations", "erratum": "errata"}
FIGURES = range(1, 18)
NUMBERED = range(1, 16)


def named(field):
    return {name for piece in PIECES for name in getattr(piece, field)}


def test_positions_of_a_place_are_contiguous_and_places_stand_together():
    places = [name for name, _ in groupby(PIECES, lambda piece: piece.place)]
    assert len(places) == len(set(places))
    for name in places:
        positions = [piece.position for piece in PIECES if piece.place == name]
        assert positions == list(range(1, len(positions) + 1)), name


def test_every_part_and_every_figure_of_the_paper_is_there():
    places = {piece.place for piece in PIECES}
    assert {f"Figure {n}" for n in FIGURES} <= places
    parts = {place.removeprefix("§").partition(".")[0] for place in places}
    assert parts == {"Abstract", *map(str, range(1, 10)), *"ABCDEF"} | {
        f"Figure {n}" for n in FIGURES
    }


def test_every_piece_has_a_kind_and_a_tag_and_a_tag_that_promises_proof_names_it():
    for piece in PIECES:
        assert piece.kind in KINDS, piece
        assert piece.tag in TAGS, piece
        if field := PROVES.get(piece.tag):
            assert getattr(piece, field), piece
    assert {piece.tag for piece in PIECES} == set(TAGS)


def test_a_display_is_checked_by_a_row_or_an_equation_or_is_an_erratum():
    displays = [piece for piece in PIECES if piece.kind == "display"]
    assert displays
    assert [piece for piece in displays if piece.tag not in PROVES] == []


def test_every_row_of_the_paper_is_in_the_map_and_the_map_names_no_other():
    rows = named("rows")
    assert {name for name, claim in claims().items() if claim.kind == "paper"} <= rows
    assert rows <= set(claims())


def test_equations_and_errata_of_the_map_exist():
    with (ROOT / "data/equations.csv").open(encoding="utf-8") as stream:
        listed = {row["equation"] for row in csv.DictReader(stream)}
    assert named("equations") <= listed
    assert {f"Eq. {number}" for number in NUMBERED} <= named("equations")
    text = (ROOT / "book/paper/errata.md").read_text(encoding="utf-8")
    anchors = set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))
    assert named("errata") <= anchors
    assert {anchor for anchor in anchors if anchor.startswith("slip")} <= named("errata")
