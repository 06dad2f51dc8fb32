"""The coverage map as a page: what is counted, what is joined, where it leads."""

from pathlib import Path

from nbformat.v4 import new_notebook

from bookbuild.ledger.claims import Claim, Finding
from bookbuild.site.staged.coverage import COVERAGE, Piece, coverage_map, read_coverage
from bookbuild.source.chapters import Chapter

CHAPTERS = [
    Chapter(f"paper/{name}", name, new_notebook(), ())
    for name in ("01_line", "02_curve", "A_proof", "equations", "errata")
]
CLAIM = Claim("a-slope", "§1", "A.", "paper", "paper/01_line", "slope")
FINDINGS = [Finding(CLAIM, None, "partly")]


def test_a_book_without_the_map_has_none(tmp_path: Path) -> None:
    assert read_coverage(tmp_path) == []
    assert coverage_map([], FINDINGS, CHAPTERS) == ""


def test_the_file_is_read_in_its_order(tmp_path: Path) -> None:
    path = tmp_path / COVERAGE
    path.parent.mkdir()
    path.write_text(
        "place,position,kind,digest,tag,rows,equations,errata\n"
        "§1,1,sentence,00000000,row,a-slope b-slope,,\n"
        'A.1,1,display,00000001,equation,,"Eq. 1;A.1 (S, T)",slip-a\n',
        encoding="utf-8",
    )
    assert read_coverage(tmp_path) == [
        Piece("§1", 1, "sentence", "row", ("a-slope", "b-slope")),
        Piece("A.1", 1, "display", "equation", (), ("Eq. 1", "A.1 (S, T)"), ("slip-a",)),
    ]


def test_the_map_counts_joins_and_links() -> None:
    pieces = [
        Piece("§2.1", 1, "sentence", "setting"),
        Piece("§2.1", 2, "sentence", "setting"),
        Piece("§2.1", 3, "sentence", "row", ("a-slope",)),
        Piece("A.1", 1, "display", "equation", (), ("Eq. 1",), ("slip-a",)),
        Piece("Abstract", 1, "sentence", "motivation"),
    ]
    text = coverage_map(pieces, FINDINGS, CHAPTERS)
    assert "Sentences 1 to 2: setting" in text
    assert 'Sentence 3: row <a class="verdict partly" href="verdicts.html#claim-a-slope">' in text
    assert 'href="paper/equations.html">Eq. 1</a> <a href="paper/errata.html#slip-a">' in text
    assert text.count("This section in the book") == 2
    assert 'href="paper/02_curve.html">' in text
    assert 'href="paper/A_proof.html">' in text
    total = text[text.index("<td>all</td>") :]
    cells = ['"Sentences">4<', '"Captions">0<', '"Displays">1<', '"Together">5<']
    assert [total.index(cell) for cell in cells] == sorted(map(total.index, cells))


def test_a_row_that_a_part_of_the_book_lacks_has_no_badge() -> None:
    pieces = [Piece("§1", 1, "sentence", "row", ("b-slope",))]
    assert "Sentence 1: row</li>" in coverage_map(pieces, FINDINGS, CHAPTERS)
