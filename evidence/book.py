"""The chapters of a book that judge rows, the record about them, and what of it is outdated."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bookbuild.costs import chapter_costs
from bookbuild.errors import BookError
from bookbuild.ledger.claims import read_claims
from bookbuild.ledger.outcomes import (
    RECORD,
    Line,
    Outcome,
    Record,
    declared,
    digest,
    read_outcomes,
    replaced,
    text_of,
)
from bookbuild.reporting.notebook import MEASURES_FILE
from bookbuild.results import executed
from bookbuild.results.contents import contents_of
from bookbuild.results.keys import chapter_fingerprint, chapter_key
from bookbuild.results.machine import gpu, machine_name
from bookbuild.results.store import write_whole
from bookbuild.settings import Settings
from bookbuild.source.chapters import Chapter, read_chapters, read_toc

from . import rounding
from .variations import Variation, read_variations

TOY = Variation("toy sizes", "sizes", profile="smoke")


@dataclass(frozen=True)
class Trial:
    """A chapter that is to be executed under a variation, and what that takes in seconds."""

    chapter: Chapter
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
        self.document = declared(root)
        self.variations = read_variations(root)
        self.record = read_outcomes(root)

    def keep(self, *lines: Line) -> None:
        """Write the record with some lines anew; what is no longer declared or judged goes."""
        record = replaced(self.record, lines)
        known = {
            (chapter, one.name, one.declaration)
            for one in self.variations
            for chapter in self.chapters
            if one.is_for(chapter)
        }
        outcomes = {
            place: line
            for place, line in record.outcomes.items()
            if (*place, line.of) in known or line.variation.startswith("machine ")
        }
        self.record = Record(record.numbers, record.runs, outcomes)
        write_whole(self.root / RECORD, text_of(self.record).encode())

    def trials(self) -> list[Trial]:
        """Return what is outdated or lacking, the cheapest first."""
        found = [
            Trial(chapter, one, self._seconds(name, one))
            for name, chapter in self.chapters.items()
            for one in self.variations
            if one.is_for(name) and one.kind != "rounding" and not self.is_current(name, one)
        ]
        roundings = [one for one in self.variations if one.kind == "rounding"]
        usable = next(iter(_changing(roundings)), None)
        for name, chapter in self.chapters.items():
            if usable and not any(self.is_current(name, one) for one in roundings):
                found.append(Trial(chapter, usable, self._seconds(name, usable)))
        here = [trial for trial in found if trial.variation.device == "cpu" or _has_gpu()]
        return sorted(here, key=lambda trial: trial.seconds)

    def is_current(self, chapter: str, variation: Variation) -> bool:
        """Return whether the record has a variation of a chapter, as both are today."""
        known = self.record.outcomes.get((chapter, variation.name))
        if known is None or not self.record.is_current(
            chapter, known.fingerprint, self.today[chapter]
        ):
            return False
        missing = self.measures[chapter] - {*known.values}
        whole = variation.kind in ("fault", "sizes") or not missing
        return whole and known.of == variation.declaration

    def built(self, chapter: str) -> str:
        """Return the digest of all that a build of the paper profile has measured; empty without one.

        What a clock decides is left out.
        """
        settings, source = replace(self.settings, device="cpu"), self.chapters[chapter]
        entry, _ = executed.find(settings, chapter_key(source, settings))
        if entry is None:
            return ""
        clocks = {f"measure {key}" for key in source.timings}
        contents = contents_of(entry).items()
        return digest({name: repr(value) for name, value in contents if name not in clocks})

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

    Raises BookError where a chapter has not been executed here.
    """
    settings = replace(book.settings, device=device)
    name = f"machine {machine_name()}{f', {gpu()}' if device == 'cuda' else ''}"
    lines, missing = [], []
    for chapter in book.chapters.values():
        entry, _ = executed.find(settings, chapter_key(chapter, settings))
        if entry is None:
            missing.append(chapter.name)
            continue
        measured = json.loads(entry.files[MEASURES_FILE])
        values = {key: measured[key]["value"] for key in book.measures[chapter.name]}
        one = Variation(name, "device", device=device)
        lines.append(
            Outcome(chapter.name, name, "device", "paper", book.today[chapter.name],
                    one.declaration, entry.origin["commit"], machine_name(),
                    entry.origin["seconds"], values)
        )  # fmt: skip
    if missing:
        raise BookError(
            f"{len(missing)} chapters have not been executed on this machine: run make reproduce "
            "first."
        )
    return lines


def _changing(roundings: Sequence[Variation]) -> Iterator[Variation]:
    """Yield the roundings that change a bit on this machine."""
    for one in roundings:
        if rounding.changes(one.environment):
            yield one


def _has_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())
