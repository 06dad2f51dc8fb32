"""The chapters of a book that judge rows, the record about them, and what of it is outdated."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

from bookbuild.costs import chapter_costs
from bookbuild.errors import BookError
from bookbuild.ledger.claims import read_claims
from bookbuild.reporting.notebook import MEASURES_FILE
from bookbuild.results import executed
from bookbuild.results.contents import contents_of
from bookbuild.results.keys import chapter_fingerprint, chapter_key
from bookbuild.results.machine import gpu, machine_name
from bookbuild.results.store import write_whole
from bookbuild.settings import BuildSettings
from bookbuild.source.chapters import read_chapters, read_toc

from .outcomes import (
    RECORD,
    Digests,
    Line,
    Outcome,
    Values,
    part_digests,
    read_outcomes,
    replaced,
    text_of,
)
from .variations import Variation, changes_bits, read_variations

TOY = Variation("toy sizes", "sizes", profile="smoke")


class PlannedExecution(NamedTuple):
    """A chapter that is to be executed under a variation, and what that takes in seconds."""

    chapter: str
    variation: Variation
    seconds: float


class JudgedBook:
    """The chapters of a book that judge rows, their code, and the record about them."""

    def __init__(self, root: Path) -> None:
        """Read them; raise BookError as their readers do."""
        self.root, self.settings = root, BuildSettings(root)
        chapters = read_chapters(root, read_toc(root))
        self.claims = read_claims(root, [chapter.name for chapter in chapters])
        self.measures: dict[str, set[str]] = {}
        for claim in self.claims:
            if claim.expectation is not None:
                self.measures.setdefault(claim.chapter, set()).add(claim.measure)
        self.chapters = {page.name: page for page in chapters if page.name in self.measures}
        self.today = {
            name: chapter_fingerprint(page, self.settings) for name, page in self.chapters.items()
        }
        self.variations = read_variations(root)
        self.record = read_outcomes(root)

    def keep(self, *lines: Line) -> None:
        """Write the record with some lines anew; what is no longer declared or judged goes."""
        named = {(name, v.name, v.declaration) for name, v in self.declared()}
        record = replaced(self.record, lines)
        current = {
            place: line
            for place, line in record.outcomes.items()
            if (*place, line.of) in named or line.variation.startswith("machine ")
        }
        self.record = replace(record, outcomes=current)
        write_whole(self.root / RECORD, text_of(self.record).encode())

    def outcome(
        self, chapter: str, one: Variation, commit: str, seconds: float, values: Values
    ) -> Outcome:
        """Return the line about a chapter under a variation, with the values that rows judge."""
        judged = {key: value for key, value in values.items() if key in self.measures[chapter]}
        about = (chapter, one.name, one.kind, one.profile, self.today[chapter], one.declaration)
        return Outcome(*about, commit, machine_name(), seconds, judged)

    def trials(self) -> list[PlannedExecution]:
        """Return what is outdated or lacking, the cheapest first; of roundings one is enough."""
        roundings = [v for v in self.variations if v.kind == "rounding"]
        usable = next((v for v in roundings if changes_bits(v.environment)), None)
        lacking = [pair for pair in self.declared() if pair[1].kind != "rounding"]
        lacking = [pair for pair in lacking if not self.is_current(*pair)]
        for name in self.chapters:
            if usable and not any(self.is_current(name, v) for v in roundings):
                lacking.append((name, usable))
        here = [pair for pair in lacking if pair[1].device == "cpu" or gpu() != "no GPU"]
        trials = [PlannedExecution(name, v, self._seconds(name, v)) for name, v in here]
        return sorted(trials, key=lambda trial: trial.seconds)

    def declared(self) -> list[tuple[str, Variation]]:
        """Return each chapter with each variation that it is executed under."""
        pairs = product(self.chapters, self.variations)
        return [(name, v) for name, v in pairs if name in (v.chapters or self.chapters)]

    def is_current(self, chapter: str, variation: Variation) -> bool:
        """Return whether the record has a variation of a chapter, as both are today."""
        outcome = self.record.outcomes.get((chapter, variation.name))
        if outcome is None or outcome.of != variation.declaration:
            return False
        whole = variation.kind in ("fault", "sizes") or self.measures[chapter] <= {*outcome.values}
        return whole and self.record.is_current(chapter, outcome.fingerprint, self.today[chapter])

    def built(self, chapter: str) -> Digests:
        """Return digests of what a paper build has measured, but for clocks; none without one."""
        settings, source = replace(self.settings, device="cpu"), self.chapters[chapter]
        entry, _ = executed.find(settings, chapter_key(source, settings))
        if entry is None:
            return {}
        clocks = {f"measure {key}" for key in source.timings}
        contents = contents_of(entry).items()
        return part_digests({name: repr(v) for name, v in contents if name not in clocks})

    def _seconds(self, chapter: str, variation: Variation) -> float:
        """Return what a trial took last, or one like it; else what its chapter takes."""
        if last := self.record.outcomes.get((chapter, variation.name)):
            return last.seconds
        outcomes, sizes = self.record.outcomes.values(), (chapter, variation.profile)
        if alike := [o.seconds for o in outcomes if (o.chapter, o.profile) == sizes]:
            return max(alike)
        settings = replace(self.settings, profile="smoke" if variation is TOY else "paper")
        return chapter_costs(settings, [self.chapters[chapter]])[chapter].seconds


def of_this_machine(book: JudgedBook, device: str) -> list[Outcome]:
    """Return what a build of the paper profile has measured on this machine.

    Raises BookError where no chapter has been executed here.
    """
    settings, outcomes = replace(book.settings, device=device), []
    machine = f"machine {machine_name()}{f', {gpu()}' if device == 'cuda' else ''}"
    whole = Variation(machine, "device", device=device)
    for name, chapter in book.chapters.items():
        if entry := executed.find(settings, chapter_key(chapter, settings))[0]:
            measured, origin = json.loads(entry.files[MEASURES_FILE]), entry.origin
            values = {key: measured[key]["value"] for key in book.measures[name]}
            outcomes.append(book.outcome(name, whole, origin["commit"], origin["seconds"], values))
    if not outcomes:
        raise BookError("No chapter has been executed on this machine: run make reproduce first.")
    return outcomes
