"""The record of what was preregistered, from the history: python -m evidence.preregistration.

Each version of the ledger that was ever committed is read, with the chapters of its commit. A row
is followed through renames of its id, through renames of its measure where the expectation stays,
and through times in which the ledger did not have it. Its expectation was written *before* its
measure if the commit that brought it is an ancestor of every commit that first reported the
measure; *after* if an ancestor of it reported the measure already; *changed* if it was another one
while the measure was there; and *together* in all other cases, such as both in one commit, or a key
that is put together in a way that the text does not show. The working tree counts as one last
commit.
"""

import json
import re
from collections import defaultdict
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from bookbuild.ledger.claims import LEDGER
from bookbuild.reporting.expectations import read_expectation
from bookbuild.schema import LOADER, load

from .repository import History

PREREGISTRATION = Path("data/preregistration.json")
PATTERN = re.compile(r"\b(?:report|tell)\(\s*f\"([^\"]+)\"")
QUOTED = re.compile(r"\"([a-z0-9_]+)\"")
NAMED = re.compile(r"(?:\breport\(|^    )([a-z0-9_]+)=", re.MULTILINE)  # report(loss=0.1)
PIECE = re.compile(r"\{[^{}]*\}")
NUMBER = re.compile(r"^([0-9]+|[A-Z])_")
ROW = re.compile(r"^(?=- )", re.MULTILINE)

Measure = tuple[str, str]  # a key, and the bare name of its chapter
Expectation = dict[str, Any]


class Trail(NamedTuple):
    """A row so far: where its expectation began, what it was before, its measure's names."""

    born: str
    expect: Expectation
    names: frozenset[Measure]
    was: tuple[Expectation, ...] = ()


class Ledgers:
    """The history of a book: the rows of each commit, and the texts of its chapters."""

    def __init__(self, root: Path) -> None:
        self.history = History(root, str(LEDGER), "book/*.md")
        files = self.history.files.items()
        self.rows = {commit: _read_rows(texts.get(str(LEDGER), "")) for commit, texts in files}
        chapters: dict[str, dict[str, str]] = {}
        # by chapter the commits in which its text is another than before, and the text
        self.edits: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        for commit, texts in files:
            pages = chapters[commit] = {}
            for path in sorted(texts.keys() - {str(LEDGER)}):  # two chapters may have one bare name
                name, text = _bare(path), texts[path]
                pages[name] = f"{pages[name]}\n{text}" if name in pages else text
            before = [chapters[parent] for parent in self.history.parents[commit]]
            for name, text in pages.items():
                if text not in [known.get(name) for known in before]:
                    self.edits[name].append((commit, text))


@cache
def _first_reports(ledgers: Ledgers, names: frozenset[Measure]) -> set[str]:
    """The commits that report a measure under a name, and have no ancestor that does."""
    first: dict[Measure, list[str]] = {name: [] for name in names}
    for (key, chapter), at in first.items():
        for commit, text in ledgers.edits[chapter]:
            if _reports(text, key) and not ledgers.history.follows(commit, at):
                at.append(commit)
    return {*chain(*first.values())}


def _trails(ledgers: Ledgers) -> dict[str, Trail]:
    """The rows of the last commit, each with its past; a row that was gone for a time has one."""
    at: dict[str, dict[str, Trail]] = {}
    for commit, parents in ledgers.history.parents.items():
        rows, pasts = ledgers.rows[commit], [at[parent] for parent in parents]
        at[commit] = {row: trail for past in pasts for row, trail in past.items()}
        if [rows] == [ledgers.rows[parent] for parent in parents]:
            continue
        left = [trail for past in pasts for row, trail in past.items() if row not in rows]
        for name, (measure, expect) in rows.items():
            gone = [trail for trail in left if measure in trail.names]  # rows of its measure
            if not gone and [rows[name]] == [ledgers.rows[parent].get(name) for parent in parents]:
                continue  # as in the one commit before
            earlier = [past[name] for past in pasts if name in past] or gone
            trail = _trail(measure, expect, commit, earlier, ledgers)
            was = max((other.was for other in (trail, *gone)), key=len)
            at[commit][name] = trail._replace(was=was)
    return {name: at[commit][name] for name in rows}


def _trail(
    measure: Measure, expect: Expectation, commit: str, earlier: list[Trail], ledgers: Ledgers
) -> Trail:
    """The past of a row, from that of its predecessors in the commits before."""
    same = [past for past in earlier if past.expect == expect]

    def late(past: Trail) -> tuple[int, bool]:
        after = ledgers.history.follows(past.born, _first_reports(ledgers, past.names))
        return len(past.was), after

    past = max(same or earlier, key=late, default=None)  # of several the least favourable
    names = (past.names if past else frozenset()) | {measure}
    if past and same:
        return past._replace(names=names)
    if past and ledgers.history.follows(commit, _first_reports(ledgers, names)):
        return Trail(past.born, expect, names, (*past.was, past.expect))
    return Trail(commit, expect, frozenset({measure}))


def _state(trail: Trail, ledgers: Ledgers) -> str:
    """When the expectation of a row was written."""
    first = _first_reports(ledgers, trail.names)
    if trail.was:
        return "changed"
    if ledgers.history.follows(trail.born, first):
        return "after"
    later = all(ledgers.history.follows(commit, [trail.born]) for commit in first)
    return "before" if first and later else "together"


@cache
def _bare(chapter: str) -> str:
    """The name of a chapter without part and number, for they change."""
    return NUMBER.sub("", Path(chapter).stem)


@cache
def _shapes(text: str) -> tuple[frozenset[str], tuple[re.Pattern[str], ...], frozenset[str]]:
    """What a chapter quotes, keys among it, the patterns of keys it reports, and its words."""
    patterns = (PIECE.split(pattern) for pattern in PATTERN.findall(text))
    compiled = tuple(re.compile("([a-z0-9_]+)".join(map(re.escape, p))) for p in patterns)
    keys = {*QUOTED.findall(text), *NAMED.findall(text)}
    return frozenset(keys), compiled, frozenset(re.findall(r"\w+", text))


@cache
def _reports(text: str, key: str) -> bool:
    """Whether a chapter reports a key, as far as its text shows."""
    quoted, patterns, words = _shapes(text)
    # every word that a pattern leaves open has to stand in the text
    matches = (pattern.fullmatch(key) for pattern in patterns)
    return key in quoted or any(match and words.issuperset(match.groups()) for match in matches)


@cache
def _read_rows(ledger: str) -> dict[str, tuple[Measure, Expectation]]:
    """Measure and expectation of the judged rows; none where the ledger could not be read."""
    try:
        rows = [row for piece in ROW.split(ledger) for row in _read(piece)]
    except yaml.YAMLError:
        return {}
    judged = (row for row in rows if "expect" in row and "measure" in row)
    return {r["id"]: ((r["measure"], _bare(r["chapter"])), _plain(r["expect"])) for r in judged}


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


def recorded(root: Path) -> dict[str, Any]:
    """What is stored of each row, for Binder and shallow clones, which have no history."""
    path = root / PREREGISTRATION
    rows: dict[str, Any] = load(path, PREREGISTRATION)["rows"] if path.is_file() else {}
    return rows


def derive_records(root: Path) -> dict[str, Any]:
    """What is recorded of each row, from the history; BookError where that is not whole."""
    ledgers = Ledgers(root)
    rows: dict[str, Any] = {}
    for name, trail in _trails(ledgers).items():
        rows[name] = {"preregistration": _state(trail, ledgers), "expect": trail.expect}
        rows[name] |= {"was": list(trail.was)} if trail.was else {}
    return rows


def main() -> None:
    """Write the record, one line a row."""
    root = Path(__file__).parents[1]
    rows = derive_records(root)
    lines = (f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    text = '{\n "rows": {\n' + ",\n".join(lines) + "\n }\n}\n"
    (root / PREREGISTRATION).write_text(text, encoding="utf-8")
    print(f"{PREREGISTRATION}: {len(rows)} rows")


if __name__ == "__main__":
    main()
