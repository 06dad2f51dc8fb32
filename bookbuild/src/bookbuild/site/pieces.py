"""What pages include or link to: verdicts, data, the map of coverage."""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from pylatexenc.latex2text import LatexNodes2Text

from bookbuild.ledger import counts
from bookbuild.ledger.claims import Finding
from bookbuild.ledger.counts import Checks, checks_table
from bookbuild.ledger.pages import results_table, verdict_matrix, verdict_table
from bookbuild.ledger.records import Records, ledger_json, ledger_row, ledger_schema
from bookbuild.ledger.templates import CLAIMS, claim_address, render
from bookbuild.results.executed import Entries
from bookbuild.source.chapters import BOOK, Chapter, part_titles, parts

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
GENERATED, DATA, LEDGER = "_generated", "data", "ledger"
CHECKS = "checks"  # the piece that lists all checks
PIECES = f"""coverage data_catalogue news verdict_counts verdict_matrix verdict_summary
verdict_table {CHECKS}"""
FORMULA = re.compile(r"\$([^$]+)\$")
SCRIPT = re.compile(r"([_^])(?:(\d)|\{([\d+-]+)\})")
LONG_SCRIPT = re.compile(r"([_^])\{([^{}()]{2,})\}")
SMALL = {
    "_": str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋"),
    "^": str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"),
}


class JudgedBook(NamedTuple):
    """What a book says and has measured, and how its claims are judged."""

    toc: dict[str, Any]
    chapters: Sequence[Chapter]
    entries: Entries
    findings: Sequence[Finding]
    records: Records
    checks: Checks


def write_pieces(book: Path, root: Path, judged: JudgedBook) -> None:
    """Write all that pages include below the staged book; `root` is that of the book."""
    toc, chapters, entries, findings, records, checks = judged
    for folder, up in ((book, ""), *((book / part, "../") for part in parts(toc))):
        # Pages of a part include the summary too, and see the verdict page one folder up.
        _write(folder / GENERATED / "verdict_summary.md", counts.verdict_summary(findings, up=up))
    for chapter in chapters:
        own_rows = [finding for finding in findings if finding.claim.chapter == chapter.name]
        _write(
            book / GENERATED / "results" / f"{chapter.name}.md", results_table(own_rows, up="../")
        )
    news = counts.news(findings)
    pieces = {
        "verdict_counts": counts.verdict_counts(findings),
        "verdict_matrix": verdict_matrix(findings, chapters),
        # the front page sets no formulas: what sets them is as large as all the rest of it
        "news": without_formulas(news),
        "verdict_table": verdict_table(findings, chapters, records, part_titles(toc)),
        **{
            f"{question.name}_counts": counts.answer_counts(question, findings, records)
            for question in records.questions
        },
        **records.texts,
        "coverage": coverage_map(read_coverage(root), findings, chapters),
        CHECKS: checks_table(checks, chapters),
        "data_catalogue": render("data_catalogue.html", chapters=chapters, entries=entries),
    }
    for name, text in pieces.items():
        _write(book / GENERATED / f"{name}.md", text)


def piece_names(records: Records) -> set[str]:
    """Return the names of what pages can include, results of a chapter and figures aside."""
    return {*PIECES.split(), *records.texts, *(f"{x.name}_counts" for x in records.questions)}


def page_of(piece: str, root: Path) -> str:
    """Return the address of a page of the book that includes a piece; empty for none."""
    for path in sorted((root / BOOK).rglob("*.md")):
        if f"{GENERATED}/{piece}.md" in path.read_text(encoding="utf-8"):
            return path.relative_to(root).with_suffix(".html").as_posix()
    return ""


class TextPiece(NamedTuple):
    """A sentence of the text or of a caption, or a display, named by its place and position.

    `rows` are ids of the ledger, `equations` entries of the page of equations, and `errata` anchors
    of the page of errata.
    """

    place: str
    position: int
    kind: str
    tag: str
    rows: tuple[str, ...]
    equations: tuple[str, ...]
    errata: tuple[str, ...]


def read_coverage(root: Path) -> list[TextPiece]:
    """Return the pieces of the paper in its order; none for a book without the map."""
    if not (root / COVERAGE).exists():
        return []
    with (root / COVERAGE).open(encoding="utf-8", newline="") as stream:
        return [
            TextPiece(
                row["place"],
                int(row["position"]),
                row["kind"],
                row["tag"],
                rows=tuple(row["rows"].split()),
                equations=tuple(filter(None, row["equations"].split(";"))),
                errata=tuple(row["errata"].split()),
            )
            for row in csv.DictReader(stream)
        ]


def coverage_map(
    pieces: Sequence[TextPiece], findings: Sequence[Finding], chapters: Sequence[Chapter]
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
    for name, same_place in groupby(pieces, lambda piece: piece.place):
        group = list(same_place)
        stretches = [list(same) for _, same in groupby(group, lambda piece: piece[2:])]
        tally = Counter(piece.tag for piece in group)
        places.append((name, _page(name, names), tally, stretches))
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


def write_ledger(folder: Path, findings: Sequence[Finding], records: Records) -> None:
    """Write the ledger as JSON into a new folder, with its schema."""
    rows = [ledger_row(finding, records) for finding in findings]
    schema = json.dumps(ledger_schema(records), indent=2) + "\n"
    _write(folder / f"{LEDGER}.json", ledger_json(rows))
    _write(folder / f"{LEDGER}.schema.json", schema)


def write_claim_pages(site: Path, findings: Iterable[Finding]) -> None:
    """Write a small page for each claim at a lasting address, which leads on to its row."""
    (site / CLAIMS).mkdir()
    for finding in findings:
        page = render("claim.html", claim=finding.claim, verdict=finding.verdict)
        _write(site / claim_address(finding.claim.id), page)


def without_formulas(text: str) -> str:
    """Return a text with its formulas as `readable` writes them."""
    return FORMULA.sub(lambda formula: readable(formula[1]), text)


def readable(tex: str) -> str:
    """Return a formula as plain text, α₃ for its TeX source, as far as letters and signs go."""
    tex = SCRIPT.sub(lambda match: (match[2] or match[3]).translate(SMALL[match[1]]), tex)
    tex = LONG_SCRIPT.sub(r"\1{(\2)}", tex)
    return " ".join(LatexNodes2Text(math_mode="text").latex_to_text(tex).split())


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
