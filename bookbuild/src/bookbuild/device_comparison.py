"""Comparison of a book executed on a GPU with the same book executed on a processor."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.filesize import decimal as readable_size

from .ledger.claims import Claim, Verdict, judge
from .results import executed as cache
from .results.contents import different
from .results.executed import Entry
from .results.keys import chapter_key
from .results.store import write_whole
from .settings import Settings
from .source.chapters import CPU, Chapter

NAME = "devices.csv"
CLOSE = 0.01  # relative: other streams of random numbers are further apart than that
HEAD = [
    "executed on the GPU", "seconds", "of a processor", "GPU busy", "GPU memory",
    "measures equal", "within 1%", "apart", "verdicts turned",
]  # fmt: skip
UNKNOWN = "–"


@dataclass(frozen=True)
class Pair:
    """A chapter's results on both devices, and the verdicts on its rows."""

    name: str
    cpu: Entry
    gpu: Entry
    verdicts: Mapping[str, tuple[Verdict, Verdict]]

    @property
    def measures(self) -> dict[str, tuple[Any, Any]]:
        """The values of each measure on both devices; None where it was not reported."""
        one, other = self.cpu.measures, self.gpu.measures
        return {
            key: (one.get(key, {}).get("value"), other.get(key, {}).get("value"))
            for key in one | other
        }


def compare_devices(
    chapters: Sequence[Chapter],
    entries: Mapping[str, Entry],
    claims: Sequence[Claim],
    settings: Settings,
) -> list[list[str]]:
    """Return a table of what each chapter took and found on a GPU, its head first.

    A chapter is compared where the store knows it from a processor too. Every measure and verdict
    is written to `devices.csv` beside the site. Empty for a book on a processor.
    """
    there = [one for one in chapters if entries[one.name].origin["device"] != CPU]
    if not there:
        return []
    pairs = {chapter.name: _pair(chapter, entries, claims, settings) for chapter in there}
    write_whole(settings.site.with_name(NAME), _csv(filter(None, pairs.values())).encode())
    return [HEAD, *(_row(name, entries[name].origin, pair) for name, pair in pairs.items())]


def _pair(
    chapter: Chapter, entries: Mapping[str, Entry], claims: Sequence[Claim], settings: Settings
) -> Pair | None:
    """Return both results of a chapter; None where the store has none from a processor."""
    on_cpu = replace(settings, device=CPU)
    other, _ = cache.find(on_cpu, chapter_key(chapter, on_cpu))
    if other is None:
        return None
    both = other, entries[chapter.name]
    judged = settings.profile == "paper"
    return Pair(chapter.name, *both, verdicts(chapter.name, both, claims, judged=judged))


def verdicts(
    name: str, both: tuple[Entry, Entry], claims: Sequence[Claim], *, judged: bool
) -> dict[str, tuple[Verdict, Verdict]]:
    """Return the verdicts on each row of a chapter by one result of it and by another."""
    rows = [claim for claim in claims if claim.chapter == name]
    one, other = (judge(rows, {name: entry.measures}, judged=judged) for entry in both)
    return {a.claim.id: (a.verdict, b.verdict) for a, b in zip(one, other, strict=True)}


def _row(name: str, made: Mapping[str, Any], pair: Pair | None) -> list[str]:
    """Return a line of the table."""
    busy, held = made.get("gpu_busy"), made.get("gpu_memory")
    row = [
        name,
        f"{made['seconds']:.0f}",
        f"{pair.cpu.origin['seconds']:.0f}" if pair else UNKNOWN,
        UNKNOWN if busy is None else f"{busy:.0%}",
        UNKNOWN if held is None else readable_size(held),
    ]
    if pair is None:
        return row + [UNKNOWN] * 4
    apart = [_apart(*values) for values in pair.measures.values()]
    turned = [id for id, (one, other) in pair.verdicts.items() if one != other]
    return [*row, *(str(apart.count(grade)) for grade in range(3)), ", ".join(turned) or "none"]


def _apart(one: Any, other: Any) -> int:
    """Return 0 for values equal to the bit, 1 for values within CLOSE, 2 for others."""
    return next((n for n, gap in enumerate((0.0, CLOSE)) if not different(one, other, gap)), 2)


def _csv(pairs: Iterable[Pair]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["chapter", "kind", "name", "cpu", "gpu"])
    for pair in pairs:
        for kind, both in (("measure", pair.measures), ("verdict", pair.verdicts)):
            table.writerows([pair.name, kind, key, *values] for key, values in both.items())
    return text.getvalue()
