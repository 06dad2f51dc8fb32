"""The record of evidence: what chapters measured under variations, a line each, with its digest.

A variation is another first seed, another rounding, another device, a setting of ours varied, or a
planted fault. `evidence/variations.yml` declares them, `make record` executes the chapters under
them, and data/evidence.jsonl keeps the outcomes. A line of the kind `outcome` is one chapter under
one variation. A line of the kind `numbers` says of a chapter which codes make the same numbers, and
holds what it measures at toy sizes, so that an edit that changes no number outdates nothing.

A line's digest covers all that it says. A line that was changed by hand is refused.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from bookbuild.errors import BookError
from bookbuild.results import keys
from bookbuild.schema import load

RECORD = Path("data/evidence.jsonl")
DECLARED = Path("evidence/variations.yml")
Kind = Literal["seed", "rounding", "device", "setting", "fault", "sizes"]
Profile = Literal["paper", "reduced", "smoke"]
PLAIN = re.compile(r"[^<>&`{}$\\]{0,200}")  # what is shown, and may begin neither HTML nor MyST
Values = Mapping[str, Any]  # of measures, by their keys; infinity is a text
Digests = Mapping[str, str]  # of parts of a whole, by their names


@dataclass(frozen=True)
class Numbers:
    """Which codes of a chapter make the same numbers."""

    chapter: str
    same: tuple[str, ...]  # fingerprints of codes, the newest last
    constants: str  # digest of the numbers and texts in the code that it reaches
    smoke: Values  # what it measures at toy sizes, of the measures that rows judge
    bits: Digests  # of each measure and each array of a figure there
    machine: str  # that measured this
    paper: Digests = field(default_factory=dict)  # the same at the book's sizes, where known


@dataclass(frozen=True)
class Runs:
    """Which codes of stored runs make the same numbers, and what the file holds."""

    file: str  # its path below the root
    same: tuple[str, ...]  # digests of codes, the newest last
    entries: tuple[str, ...] = ()  # a digest of each entry of the file, in their order


@dataclass(frozen=True)
class Outcome:
    """What a chapter measured under a variation."""

    chapter: str
    variation: str  # its name
    kind: Kind  # what is varied
    profile: Profile  # at which sizes
    fingerprint: str  # of the chapter's code
    of: str  # digest of the variation as it was declared
    commit: str  # of the tree
    machine: str | None  # that measured
    seconds: float  # of one core
    values: Values = field(default_factory=dict)  # of the measures that rows of the ledger judge
    # what became of rows, where their values were not kept: turned, improved, stops
    fates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


Line = Numbers | Runs | Outcome
Place = tuple[str, ...]  # the kind of a line, and what it is about
LINES = {"numbers": Numbers, "runs": Runs, "outcome": Outcome}
UNSHOWN = {"values", "fates", "smoke", "bits", "paper"}  # fields in which things are looked up


@dataclass(frozen=True)
class Record:
    """All lines: of chapters and files by name, of outcomes by chapter and variation."""

    numbers: Mapping[str, Numbers] = field(default_factory=dict)
    runs: Mapping[str, Runs] = field(default_factory=dict)
    outcomes: Mapping[tuple[str, str], Outcome] = field(default_factory=dict)

    def is_current(self, name: str, made: str, today: str | None) -> bool:
        """Return whether the code that made something makes the numbers of today's code.

        The name is that of a chapter, or of a file of stored runs.
        """
        recorded = self.numbers.get(name) or self.runs.get(name)
        same = recorded.same if recorded else ()
        return made == today or (made in same and same[-1:] == (today,))

    def of(self, chapter: str, *kinds: Kind) -> list[Outcome]:
        """Return the outcomes of a chapter, of some kinds."""
        return [o for o in self.outcomes.values() if o.chapter == chapter and o.kind in kinds]

    def without_fault(self, outcome: Outcome) -> Values | None:
        """Return what the chapter measures without a fault, at its sizes; None for a build."""
        if outcome.profile == "paper":
            return None
        if outcome.profile == "smoke":
            toy = self.numbers.get(outcome.chapter)
            return toy.smoke if toy else {}
        reduced = self.outcomes.get((outcome.chapter, "reduced sizes"))
        return reduced.values if reduced else {}


def read_outcomes(root: Path) -> Record:
    """Return the record of a book, empty where there is none; raise BookError for a false line."""
    path = root / RECORD
    if not path.is_file():
        return Record()
    lines: dict[Place, Line] = {}
    whole = path.read_bytes().decode()
    for number, text in enumerate(whole.splitlines(), start=1):
        try:
            line = _line(text)
            if lines.setdefault(_place(line), line) is not line:
                raise ValueError("another line is about the same")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise BookError(f"{RECORD}, line {number}: {error}.") from error
    record = replaced(Record(), lines.values())
    if whole != text_of(record):
        raise BookError(f"{RECORD} was changed by hand: its lines are not as they are recorded.")
    return record


def text_of(record: Record) -> str:
    """Return the record as text, the chapters and variations in the order of their names."""
    lines: list[Line] = [*record.numbers.values(), *record.runs.values()]
    lines += record.outcomes.values()
    return "".join(f"{_signed(line)}\n" for line in sorted(lines, key=_place))


def replaced(record: Record, lines: Iterable[Line]) -> Record:
    """Return the record with some lines in the places of theirs."""
    numbers, runs, outcomes = {**record.numbers}, {**record.runs}, {**record.outcomes}
    for line in lines:
        if isinstance(line, Outcome):
            outcomes[line.chapter, line.variation] = line
        elif isinstance(line, Runs):
            runs[line.file] = line
        else:
            numbers[line.chapter] = line
    return Record(numbers, runs, outcomes)


def declared_variations(root: Path) -> Mapping[str, Any]:
    """Return what the book declares of variations; nothing where it declares none."""
    document: dict[str, Any] = (
        load(root / DECLARED, DECLARED) if (root / DECLARED).is_file() else {}
    )
    return document


def digests(text: str) -> tuple[str, ...]:
    """Return a digest of each entry of a file of stored runs."""
    return tuple(map(keys.digest, json.loads(text)))


def digest(content: Any) -> str:
    """Return the digest of what a line says."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def part_digests(parts: Mapping[str, Any]) -> Digests:
    """Return a short digest of each part."""
    return {name: digest(part)[:12] for name, part in parts.items()}


def _place(line: Line) -> Place:
    """Return what a line is about, by which lines are in order."""
    if isinstance(line, Outcome):
        return "outcome", line.chapter, line.variation
    return ("runs", line.file) if isinstance(line, Runs) else ("numbers", line.chapter)


def _signed(line: Line) -> str:
    fields = asdict(line).items()
    content = {k: v for k, v in fields if v not in ({}, ())}
    content = json.loads(json.dumps({"line": _place(line)[0], **content}))  # lists for tuples
    return json.dumps(content | {"digest": digest(content)}, ensure_ascii=False, allow_nan=False)


def _line(text: str) -> Line:
    content = json.loads(text)
    signature = content.pop("digest", None)
    if signature != digest(content):
        raise ValueError("it was changed by hand: its digest does not fit what it says")
    for name in content.keys() - UNSHOWN:
        for value in content[name] if isinstance(content[name], list) else [content[name]]:
            if not (PLAIN.fullmatch(str(value)) and str(value).isprintable()):
                raise ValueError(f"the field {name!r:.40} is no plain text: {value!r:.40}")
    kind, fates = content.pop("line"), content.get("fates", {})
    if kind == "numbers":
        content.setdefault("smoke", {})
    if fates:
        content["fates"] = {fate: tuple(rows) for fate, rows in fates.items()}
    lists = {name: tuple(value) for name, value in content.items() if isinstance(value, list)}
    line: Line = LINES[kind](**content | lists)
    return line
