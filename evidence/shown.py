"""What the record says to the builder, which asks the class `Evidence` for it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bookbuild.execution.runs import File
from bookbuild.ledger import evidence
from bookbuild.ledger.claims import Finding
from bookbuild.ledger.counts import KINDS
from bookbuild.ledger.records import Known, Question, Records
from bookbuild.ledger.templates import render
from bookbuild.reporting.provenance import commit
from bookbuild.results.snapshot import sources
from bookbuild.schema import load
from bookbuild.settings import BuildSettings
from bookbuild.source.book import read_book
from bookbuild.source.chapters import Chapter

from .record import Release, read_record
from .rows import Standing, lowered, standing_of
from .variations import declared

TEMPLATES = Path(__file__).with_name("templates")
SHOWN = load(Path(__file__).with_name("shown.json"), "what evidence shows")
FIELDS: Mapping[str, Any] = SHOWN["fields"]  # of the rows of the published ledger
QUESTIONS = [Question(x["name"], x["label"], x["words"]) for x in SHOWN["questions"]]


class Evidence(evidence.Evidence):
    """The record of a book."""

    def weigh(
        self, findings: Sequence[Finding], chapters: Sequence[Chapter], settings: BuildSettings
    ) -> tuple[list[Finding], Records]:
        """Return the findings, lowered where the record does not confirm them, and what it says."""
        document, record = declared(self.root), read_record(self.root)
        if not document:
            return [*findings], Records()
        stored: dict[str, tuple[int, int]] = {}
        for chapter in chapters:
            for file in {*chapter.data} & {*read_book(self.root).stored_runs}:
                runs = File(file, self.root, sources(settings))
                stored[chapter.name] = len(runs.seeds()), len(runs.seeds(current=True))
        standings = {
            finding.claim.id: standing
            for finding in findings
            if (standing := standing_of(finding, record, document, stored))
        }
        rows = {row: known(standing, record.release) for row, standing in standings.items()}
        counts: Counter[tuple[str, str]] = Counter()
        faults: dict[str, Counter[str]] = {}  # by chapter, and how many rows each turns
        for claim in (finding.claim for finding in findings if finding.claim.id in rows):
            counts[claim.kind, standings[claim.id].foresight] += 1
            for says, worse in standings[claim.id].faults.items():
                faults.setdefault(claim.chapter, Counter())[says] += worse
        given = {
            "release": record.release,
            "today": commit(self.root),
            "rows": len(standings),
            "lacking": sum(standing.doubt == "lacks" for standing in standings.values()),
            "kinds": KINDS,
            "counts": counts,
            "faults": faults,
        }
        names = ("recorded", "prospective", "planted_faults")
        texts = {name: render(f"{name}.md", TEMPLATES, **given) for name in names}
        after = [lowered(finding, standings.get(finding.claim.id)) for finding in findings]
        return after, Records(rows, QUESTIONS, texts, FIELDS)


def known(standing: Standing, release: Release | None) -> Known:
    """Return what is known of a row."""
    words = {
        "prospective": standing.foresight,
        "seeds": standing.seeds.state,
        "rounding": standing.rounding.state,
        "faults": standing.alertness,
    }
    words |= {"settings": standing.settings.state} if standing.settings.reruns else {}
    values = [words.get(question.name) for question in QUESTIONS]
    fields = dict(zip(FIELDS, [*values, standing.own, standing.recorded], strict=True))
    remark = render("remark.html", TEMPLATES, known=standing, release=release)
    return Known(words, remark.strip("\n"), fields)
