"""The chapters of a book that judge rows, the record about them, and what of it is outdated."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

from bookbuild.costs import chapter_costs
from bookbuild.errors import BookError
from bookbuild.ledger import outcomes
from bookbuild.ledger.claims import read_claims
from bookbuild.ledger.outcomes import Line, Outcome, Record, Values
from bookbuild.reporting.notebook import MEASURES_FILE
from bookbuild.results import executed
from bookbuild.results.contents import contents_of
from bookbuild.results.keys import chapter_fingerprint, chapter_key
from bookbuild.results.machine import gpu, machine_name
from bookbuild.results.store import write_whole
from bookbuild.settings import Settings
from bookbuild.source.chapters import read_chapters, read_toc

from .variations import Variation, changes_bits, read_variations

TOY = Variation("toy sizes", "sizes", profile="smoke")


class Trial(NamedTuple):
    """A chapter that is to be executed under a variation, and what that takes in seconds."""

    chapter: str
    variation: Variation
    seconds: float


class Book:
    """The chapters of a book that judge rows, their code, and the record about them."""

    def __init__(self, root: Path) -> None:
        """Read them; raise BookError as their readers do."""
        self.root, self.settings = root, Settings(root)
        chapters = read_chapters(root, read_toc(root))
        self.claims = read_claims(root, [chapter.name for chapter in chapters])
        self.measures: dict[str, set[str]] = {}
        for claim in self.claims:
            if claim.expectation is not None:
                self.measures.setdefault(claim.chapter, set()).add(claim.measure)
        self.chapters = {one.name: one for one in chapters if one.name in self.measures}
        self.today = {
            name: chapter_fingerprint(one, self.settings) for name, one in self.chapters.items()
        }
        self.variations = read_variations(root)
        self.record = outcomes.read_outcomes(root)

    def keep(self, *lines: Line) -> None:
        """Write the record with some lines anew; what is no longer declared or judged goes."""
        record = outcomes.replaced(self.record, lines)
        known = {(name, one.name, one.declaration) for name, one in self.declared()}
        current = {
            place: line
            for place, line in record.outcomes.items()
            if (*place, line.of) in known or line.variation.startswith("machine ")
        }
        self.record = Record(record.numbers, record.runs, current)
        write_whole(self.root / outcomes.RECORD, outcomes.text_of(self.record).encode())

    def outcome(
        self, chapter: str, one: Variation, commit: str, seconds: float, values: Values
    ) -> Outcome:
        """Return the line about a chapter under a variation, with the values that rows judge."""
        judged = {key: value for key, value in values.items() if key in self.measures[chapter]}
        return Outcome(chapter, one.name, one.kind, one.profile, self.today[chapter],
                       one.declaration, commit, machine_name(), seconds, judged)  # fmt: skip

    def trials(self) -> list[Trial]:
        """Return what is outdated or lacking, the cheapest first; of roundings one is enough."""
        roundings = [one for one in self.variations if one.kind == "rounding"]
        usable = next((one for one in roundings if changes_bits(one.environment)), None)
        outdated = [pair for pair in self.declared() if not self.is_current(*pair)]
        lacking = [(name, one) for name, one in outdated if one.kind != "rounding"]
        for name in self.chapters:
            if usable and not any(self.is_current(name, one) for one in roundings):
                lacking.append((name, usable))
        here = [(name, one) for name, one in lacking if one.device == "cpu" or gpu()]
        trials = [Trial(name, one, self._seconds(name, one)) for name, one in here]
        return sorted(trials, key=lambda trial: trial.seconds)

    def declared(self) -> list[tuple[str, Variation]]:
        """Return each chapter with each variation that it is executed under."""
        pairs = product(self.chapters, self.variations)
        return [(name, one) for name, one in pairs if one.is_for(name)]

    def is_current(self, chapter: str, variation: Variation) -> bool:
        """Return whether the record has a variation of a chapter, as both are today."""
        known = self.record.outcomes.get((chapter, variation.name))
        if known is None or known.of != variation.declaration:
            return False
        whole = variation.kind in ("fault", "sizes") or self.measures[chapter] <= {*known.values}
        return whole and self.record.is_current(chapter, known.fingerprint, self.today[chapter])

    def built(self, chapter: str) -> str:
        """Return the digest of all that a paper build has measured; empty without one.

        What a clock decides is left out.
        """
        settings, source = replace(self.settings, device="cpu"), self.chapters[chapter]
        entry, _ = executed.find(settings, chapter_key(source, settings))
        if entry is None:
            return ""
        clocks = {f"measure {key}" for key in source.timings}
        contents = contents_of(entry).items()
        return outcomes.digest({name: repr(v) for name, v in contents if name not in clocks})

    def _seconds(self, chapter: str, variation: Variation) -> float:
        """Return what a trial took last, or one like it; else what its chapter takes."""
        known = self.record.outcomes.get((chapter, variation.name))
        alike = [o.seconds for o in self.record.outcomes.values()
                 if (o.chapter, o.profile) == (chapter, variation.profile)]  # fmt: skip
        if known or alike:
            return known.seconds if known else max(alike)
        settings = replace(self.settings, profile="smoke" if variation is TOY else "paper")
        return chapter_costs(settings, [self.chapters[chapter]])[chapter].seconds


def of_this_machine(book: Book, device: str) -> list[Outcome]:
    """Return what a build of the paper profile has measured on this machine.

    Raises BookError where no chapter has been executed here.
    """
    settings = replace(book.settings, device=device)
    machine = f"machine {machine_name()}{f', {gpu()}' if device == 'cuda' else ''}"
    one = Variation(machine, "device", device=device)
    keys = {name: chapter_key(chapter, settings) for name, chapter in book.chapters.items()}
    found = {name: executed.find(settings, key)[0] for name, key in keys.items()}
    entries = {name: entry for name, entry in found.items() if entry is not None}
    if not entries:
        raise BookError("No chapter has been executed on this machine: run make reproduce first.")
    lines = []
    for name, entry in entries.items():
        measured = json.loads(entry.files[MEASURES_FILE])
        values = {key: measured[key]["value"] for key in book.measures[name]}
        origin = entry.origin
        lines.append(book.outcome(name, one, origin["commit"], origin["seconds"], values))
    return lines
