"""What pages include or link to: the coverage map, and formulas as text."""

from nbformat.v4 import new_notebook

from bookbuild.ledger.claims import Claim, Finding
from bookbuild.site.pieces import Piece, coverage_map
from bookbuild.source.chapters import Chapter

CHAPTERS = [
    Chapter(f"paper/{name}", f"<{name}>", new_notebook(), ())
    for name in ("01_line", "02_curve", "A_proof", "equations", "errata")
]
FINDINGS = [
    Finding(Claim("a-slope", "§1", "A.", "paper", "paper/01_line", "slope"), None, "partly")
]


def test_the_coverage_map_counts_joins_and_links() -> None:
    pieces = [
        Piece("§2.1", 1, "sentence", "setting"),
        Piece("§2.1", 2, "sentence", "setting"),
        Piece("§2.1", 3, "sentence", "row", ("a-slope",)),
        Piece("A.1", 1, "display", "equation", (), ("Eq. 1",), ("slip-a",)),
        Piece("Abstract", 1, "sentence", "row", ("b-slope",)),  # of a part that is not built
    ]
    text = coverage_map(pieces, FINDINGS, CHAPTERS)
    assert "Sentence 1: row</li>" in text
    assert "Sentences 1 to 2: setting" in text
    assert 'Sentence 3: row <a class="verdict partly" href="verdicts.html#claim-a-slope">' in text
    assert 'href="paper/equations.html">Eq. 1</a> <a href="paper/errata.html#slip-a">' in text
    assert text.count("This section in the book") == 2
    assert 'href="paper/02_curve.html">' in text
    assert 'href="paper/A_proof.html">' in text
    total = text[text.index("<td>all</td>") :]
    cells = ['"Sentences">4<', '"Captions">0<', '"Displays">1<', '"Together">5<']
    assert [total.index(cell) for cell in cells] == sorted(map(total.index, cells))
