"""What a version of the book states: the rows of its ledger, and what its chapters report."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bookbuild.reporting.expectations import read_expectation
from bookbuild.schema import LOADER

PATTERN = re.compile(r"\breport\(\s*f\"([^\"]+)\"")
QUOTED = re.compile(r"\"([a-z0-9_]+)\"")
PIECE = re.compile(r"\{[^{}]*\}")
NUMBER = re.compile(r"^([0-9]+|[A-Z])_")
ROW = re.compile(r"^(?=- )", re.MULTILINE)

Measure = tuple[str, str]  # a key, and the bare name of its chapter
Expectation = dict[str, Any]


@cache
def bare(chapter: str) -> str:
    """The name of a chapter without part and number, for they change."""
    return NUMBER.sub("", Path(chapter).stem)


@cache
def _shapes(text: str) -> tuple[frozenset[str], tuple[re.Pattern[str], ...], frozenset[str]]:
    """What a chapter quotes, keys among it, the patterns of keys it reports, and its words."""
    patterns = (PIECE.split(pattern) for pattern in PATTERN.findall(text))
    compiled = tuple(re.compile("([a-z0-9_]+)".join(map(re.escape, p))) for p in patterns)
    return frozenset(QUOTED.findall(text)), compiled, frozenset(re.findall(r"\w+", text))


@cache
def reports(text: str, key: str) -> bool:
    """Whether a chapter reports a key, as far as its text shows."""
    quoted, patterns, words = _shapes(text)
    # every word that a pattern leaves open has to stand in the text
    matches = (pattern.fullmatch(key) for pattern in patterns)
    return key in quoted or any(match and words.issuperset(match.groups()) for match in matches)


@cache
def read_rows(ledger: str) -> dict[str, tuple[Measure, Expectation]]:
    """Measure and expectation of the judged rows; none where the ledger could not be read."""
    try:
        rows = [row for piece in ROW.split(ledger) for row in _read(piece)]
    except yaml.YAMLError:
        return {}
    judged = (row for row in rows if "expect" in row and "measure" in row)
    return {r["id"]: ((r["measure"], bare(r["chapter"])), _plain(r["expect"])) for r in judged}


@cache
def _read(piece: str) -> list[dict[str, Any]]:
    """The row of a piece of a ledger; most are the same in many versions."""
    return yaml.load(piece, LOADER) or []


def _plain(expect: Any) -> Expectation:
    """An expectation whose numbers are numbers, so that equal ones compare as equal."""
    given: Any = {expect: True} if isinstance(expect, str) else expect  # once written so
    try:
        read = read_expectation(given)
    except (TypeError, ValueError):
        return given
    written = {"within": [read.low, read.high], "holds": True, "at_most": read.high}
    return {read.form: written.get(read.form, read.low)}
