"""What the record says to the builder, which asks the class `Evidence` for it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from bookbuild.errors import BookError
from bookbuild.ledger import evidence
from bookbuild.ledger.claims import Finding
from bookbuild.ledger.records import Known, Question, Records
from bookbuild.ledger.templates import render
from bookbuild.reporting.expectations import read_expectation
from bookbuild.results.keys import chapter_fingerprint
from bookbuild.results.store import write_whole
from bookbuild.schema import load
from bookbuild.settings import BuildSettings
from bookbuild.source.chapters import Chapter

from .outcomes import RECORD, Runs, declared_variations, digests, read_outcomes, replaced, text_of
from .preregistration import recorded
from .rows import Seen, Standing, lowered, standing_of

TEMPLATES = Path(__file__).with_name("templates")
FIELDS = load(Path(__file__).with_name("ledger_fields.json"), "the fields of the ledger")
REPEATED = {
    "steady": ("have the same verdict", "the same"),
    "flips": ("have another verdict", "another one"),
    "earlier": ("had the same verdict with earlier code", "the same, in earlier code"),
    "missing": ("were not repeated", "not repeated"),
}
WRITTEN = {
    "before": ("written before the measure", "before the measure"),
    "together": ("not told", "not told"),
    "after": ("written after the measure", "after the measure"),
    "changed": ("changed after the measure", "changed since"),
}
CAUGHT = {
    "turned": ("would catch one", "catches one"),
    "contradicted": ("are contradicted, and cannot get worse", "contradicted"),
    "green": ("catch none", "catches none"),
    "untried": ("had none planted", "none planted"),
}
QUESTIONS = (
    Question("preregistration", "Expectation", WRITTEN),
    Question("seeds", "Seeds", REPEATED),
    Question("rounding", "Rounding", REPEATED),
    Question("faults", "Faults", CAUGHT),
    Question("others", "Devices and settings", REPEATED),
)


class Evidence(evidence.Evidence):
    """The records of a book: of evidence, and of when expectations were written."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.record, self.written = read_outcomes(root), recorded(root)

    def weigh(
        self, findings: Sequence[Finding], chapters: Sequence[Chapter], settings: BuildSettings
    ) -> tuple[list[Finding], Records]:
        """Return the findings, lowered where the record does not confirm them, and what it says."""
        document = declared_variations(self.root)
        named = {name for name, _ in self.record.outcomes} | {*self.record.numbers}
        today = {x.name: chapter_fingerprint(x, settings) for x in chapters if x.name in named}
        standings: dict[str, Standing] = {}
        rows: dict[str, Known] = {}
        for finding in findings:
            row, code = finding.claim.id, today.get(finding.claim.chapter)
            standing = standing_of(finding, self.record, document, code)
            rows[row] = about(finding, self.written.get(row, {}), standing)
            standings |= {row: standing} if standing else {}
        texts = {
            "unrenewed": unrenewed(standings) if document else "",
            "wrong_trainings": wrong_trainings(findings, chapters, standings),
        }
        after = lowered(findings, standings, required=bool(document))
        return after, Records(rows, QUESTIONS, texts, FIELDS)

    def is_current(self, file: str, code: str, today: str) -> bool:
        """Return whether the code that made a stored run makes the numbers of today's code."""
        return self.record.is_current(file, code, today)

    def check_runs(self, file: str, text: str) -> None:
        """Raise BookError where the record has digests of other entries than a file holds."""
        runs = self.record.runs.get(file)
        places = zip_longest(runs.entries, digests(text)) if runs and runs.entries else ()
        for place, (digest, present) in enumerate(places, start=1):
            if digest != present:
                said = f"it was changed by hand, for {RECORD} has another digest of it."
                raise BookError(f"{file}, entry {place}: {said}")

    def keep_runs(self, file: str, text: str, today: str) -> None:
        """Record digests of what a file holds, and that today's code makes it."""
        runs = self.record.runs.get(file)
        same = runs.same if runs and runs.same[-1] == today else (today,)
        self._write(Runs(file, same, digests(text)))

    def forget_runs(self) -> None:
        """Forget what files of stored runs hold, in a copy of the book that makes all anew."""
        self._write(*(replace(runs, entries=()) for runs in self.record.runs.values()))

    def _write(self, *lines: Runs) -> None:
        if (self.root / RECORD).is_file():
            text = text_of(replaced(read_outcomes(self.root), lines))
            write_whole(self.root / RECORD, text.encode())


def about(finding: Finding, written: Mapping[str, Any], standing: Standing | None) -> Known:
    """Return what is known of a row; when another expectation was written says nothing of it."""
    words, was = {}, []
    if written and read_expectation(written["expect"]) == finding.claim.expectation:
        words["preregistration"] = written["preregistration"]
        was = [read_expectation(past) for past in written.get("was", ())]
    alone, since = None, ""
    if standing:
        seeds, rounding = standing.seeds, standing.rounding
        words |= {"seeds": seeds.state, "rounding": rounding.state, "faults": standing.alertness}
        words |= {"others": standing.others.state} if standing.others.reruns else {}
        alone, since = seeds.own, seeds.since or rounding.since
    values = (*(words.get(question.name) for question in QUESTIONS), alone, since or None)
    fields = dict(zip(FIELDS, values, strict=True))
    remark = render("remark.html", TEMPLATES, words=words, was=was, known=standing)
    return Known(words, remark.strip("\n"), fields)


def unrenewed(standings: Mapping[str, Standing]) -> str:
    """Return how many rows read no better than partly for want of evidence, as MyST."""
    lacking = [standing for standing in standings.values() if standing.lacks]
    alone = sum(standing.seeds.own == "reproduced" for standing in lacking)
    numbers = {"rows": len(standings), "lacking": len(lacking), "kept": alone}
    return render("unrenewed.md", TEMPLATES, **numbers) if lacking else ""


def wrong_trainings(
    findings: Sequence[Finding], chapters: Sequence[Chapter], standings: Mapping[str, Standing]
) -> str:
    """Return the matrix of each chapter on which wrong trainings were tried."""
    tried = []
    for chapter in chapters:
        rows: dict[str, dict[str, Seen]] = {}
        for row in (f.claim.id for f in findings if f.claim.chapter == chapter.name):
            faults = standings[row].faults if row in standings else ()
            if trainings := {x.says: x for x in faults if x.is_training}:
                rows[row] = trainings
        if rows:
            faults_of_rows = [x for seen in rows.values() for x in seen.values()]
            kinds = sorted({(x.kind, x.says) for x in faults_of_rows})
            tried.append((chapter, rows, kinds, _reasons(rows)))
    contradicted = {f.claim.id for f in findings if f.verdict == "contradicted"}
    return render("wrong_trainings.html", TEMPLATES, tried=tried, contradicted=contradicted)


def _reasons(rows: Mapping[str, Mapping[str, Seen]]) -> dict[str, list[int]]:
    """Return why statements stay true, each with the numbers of its rows."""
    reasons: dict[str, list[int]] = {}
    for number, seen in enumerate(rows.values(), start=1):
        for why in dict.fromkeys(x.why for x in seen.values() if x.why):
            reasons.setdefault(why, []).append(number)
    return reasons
