"""The generated pieces of the stage, which pages include: verdicts, their counts, a catalogue."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from bookbuild.ledger.checks import Checks, checks_table
from bookbuild.ledger.claims import Finding
from bookbuild.ledger.counts import (
    WORDS,
    news,
    record_counts,
    unrenewed,
    verdict_counts,
    verdict_summary,
    wrong_trainings,
)
from bookbuild.ledger.pages import results_table, verdict_matrix, verdict_table
from bookbuild.ledger.records import Records
from bookbuild.results.executed import Entry
from bookbuild.site.data import catalogue
from bookbuild.site.lookup.formulas import readable
from bookbuild.source.chapters import Chapter, part_titles, read_toc

from .coverage import coverage_map, read_coverage

FOLDER = "_generated"
FORMULA = re.compile(r"\$([^$]+)\$")


def write_generated(
    book: Path,
    root: Path,
    parts: Sequence[str],
    chapters: Sequence[Chapter],
    entries: Mapping[str, Entry],
    findings: Sequence[Finding],
    records: Records,
    checks: Checks,
) -> None:
    """Write all pieces below the staged book; `root` is that of the book."""
    for folder, up in ((book, ""), *((book / part, "../") for part in parts)):
        # Pages of a part include the summary too, and see the verdict page one folder up.
        _write(folder / FOLDER / "verdict_summary.md", verdict_summary(findings, up=up))
    for chapter in chapters:
        found = [finding for finding in findings if finding.claim.chapter == chapter.name]
        _write(book / FOLDER / "results" / f"{chapter.name}.md", results_table(found, up="../"))
    titles = part_titles(read_toc(root))
    pieces = {
        "verdict_counts": verdict_counts(findings),
        "verdict_matrix": verdict_matrix(findings, chapters),
        # the front page sets no formulas: what sets them is as large as all the rest of it
        "news": FORMULA.sub(lambda formula: readable(formula[1]), news(findings)),
        "verdict_table": verdict_table(findings, chapters, records, titles),
        **{f"{what}_counts": record_counts(what, findings, records) for what in WORDS},
        "wrong_trainings": wrong_trainings(findings, chapters, records),
        "coverage": coverage_map(read_coverage(root), findings, chapters),
        "unrenewed": unrenewed(findings, records),
        "checks": checks_table(checks, chapters),
        "data_catalogue": catalogue(chapters, entries),
    }
    for name, text in pieces.items():
        _write(book / FOLDER / f"{name}.md", text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
