"""The record of what was preregistered, from the history: python -m tools.preregistration [--anew].

Each version of the ledger that was ever committed is read, with the chapters of its commit. A row
is followed through renames of its id, through renames of its measure where the expectation stays,
and through times in which the ledger did not have it. Its expectation was written *before* its
measure if the commit that brought it is an ancestor of every commit that first reported the
measure; *after* if an ancestor of it reported the measure already; *changed* if it was another one
while the measure was there; and *together* in all other cases, such as both in one commit, or a key
that is put together in a way that the text does not show. The files that are not committed yet
count as one last commit. Rows whose expectation is the one on record
stay as they are, so that a shallow clone loses nothing; --anew derives all of them again.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bookbuild.ledger.claims import LEDGER, Claim
from bookbuild.ledger.preregistration import Preregistration
from bookbuild.ledger.stored import PREREGISTRATION, read_record
from bookbuild.reporting.expectations import read_expectation
from bookbuild.schema import LOADER

PATTERN = re.compile(r"\breport\(\s*f\"([^\"]+)\"")
QUOTED = re.compile(r"\"([a-z0-9_]+)\"")
PIECE = re.compile(r"\{[^{}]*\}")
NUMBER = re.compile(r"^([0-9]+|[A-Z])_")
WORKTREE = "worktree"
COMMAND = "make record WHAT=preregistration"

Row = tuple["Measure", dict[str, Any]]  # measure and expectation of a row


def _bare(chapter: str) -> str:
    return NUMBER.sub("", Path(chapter).stem)


@dataclass(frozen=True)
class Measure:
    """A key, and the chapter that reports it, without its part and number, for they change."""

    key: str
    chapter: str

    @staticmethod
    def of(key: str, chapter: str) -> "Measure":
        return Measure(key, _bare(chapter))


@dataclass(frozen=True)
class Snapshot:
    """What a commit holds: the rows of its ledger by id, and its chapters' texts by name."""

    rows: Mapping[str, Row]
    chapters: Mapping[str, str]

    def reports(self, measure: Measure) -> bool:
        """Whether the chapter reports the key, as far as its text shows."""
        text = self.chapters.get(measure.chapter)
        return text is not None and _reports(text, measure.key)


@dataclass(frozen=True)
class Trail:
    """A row so far: where its expectation began, what it was before, its measure's names."""

    born: str
    expect: Mapping[str, Any]
    names: frozenset[Measure]
    was: tuple[Mapping[str, Any], ...] = ()


@dataclass
class History:
    """Commits, parents before children, and what each holds."""

    parents: dict[str, tuple[str, ...]]
    snapshots: dict[str, Snapshot]
    ancestors: dict[str, frozenset[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.ancestors = {}
        for commit, parents in self.parents.items():
            older = (self.ancestors[parent] | {parent} for parent in parents)
            self.ancestors[commit] = frozenset().union(*older)

    @cache  # noqa: B019, one history a process
    def first_reports(self, measure: Measure) -> frozenset[str]:
        """The commits that report a measure, and have no ancestor that does."""
        found: set[str] = set()
        for commit in self.parents:
            if not found & self.ancestors[commit] and self.snapshots[commit].reports(measure):
                found.add(commit)
        return frozenset(found)

    def reported_before(self, commit: str, names: frozenset[Measure]) -> bool:
        """Whether an ancestor of a commit reports a measure under one of its names."""
        return any(self.first_reports(name) & self.ancestors[commit] for name in names)

    __hash__ = object.__hash__


@cache
def _shapes(text: str) -> tuple[frozenset[str], tuple[re.Pattern[str], ...], frozenset[str]]:
    """What a chapter quotes, keys among it, the patterns of keys it reports, and its words."""
    patterns = (PIECE.split(pattern) for pattern in PATTERN.findall(text))
    compiled = tuple(re.compile("([a-z0-9_]+)".join(map(re.escape, p))) for p in patterns)
    return frozenset(QUOTED.findall(text)), compiled, frozenset(re.findall(r"\w+", text))


@cache
def _reports(text: str, key: str) -> bool:
    quoted, patterns, words = _shapes(text)
    if key in quoted:
        return True
    # every word that a pattern leaves open has to stand in the text
    matches = (pattern.fullmatch(key) for pattern in patterns)
    return any(match is not None and words.issuperset(match.groups()) for match in matches)


def trails(history: History) -> dict[str, Trail]:
    """The rows of the last commit, each with its past; a row that was gone for a time has one."""
    at: dict[str, dict[str, Trail]] = {}
    for commit, parents in history.parents.items():
        rows, before = history.snapshots[commit].rows, [at[parent] for parent in parents]
        known = {name: past for parent in before for name, past in parent.items()}
        at[commit] = known | {
            name: _trail(name, row, commit, before, rows, history) for name, row in rows.items()
        }
    return {name: at[commit][name] for name in rows}


def _trail(
    name: str,
    row: Row,
    commit: str,
    parents: Sequence[Mapping[str, Trail]],
    rows: Mapping[str, Row],
    history: History,
) -> Trail:
    """The past of a row, from that of its predecessors in the commits before."""
    measure, expect = row
    earlier = [past for parent in parents for past in _predecessors(name, measure, parent, rows)]
    same = [past for past in earlier if past.expect == expect]
    if same:
        longest = max(same, key=lambda past: len(past.was))
        return replace(longest, names=longest.names | {measure})
    if not earlier:
        return Trail(commit, expect, frozenset({measure}))
    past = max(earlier, key=lambda past: len(past.was))
    if history.reported_before(commit, past.names | {measure}):
        return Trail(past.born, expect, past.names | {measure}, (*past.was, past.expect))
    return Trail(commit, expect, frozenset({measure}))


def _predecessors(
    name: str, measure: Measure, parent: Mapping[str, Trail], rows: Mapping[str, Row]
) -> Iterator[Trail]:
    """The row that last had this name, or one of its measure whose name is gone."""
    if name in parent:
        yield parent[name]
        return
    yield from (
        past for other, past in parent.items() if other not in rows and measure in past.names
    )


def state(trail: Trail, history: History) -> str:
    """What the record says of a row."""
    if trail.was:
        return "changed"
    if history.reported_before(trail.born, trail.names):
        return "after"
    if any(history.snapshots[trail.born].reports(name) for name in trail.names):
        return "together"
    first = frozenset().union(*(history.first_reports(name) for name in trail.names))
    later = all(trail.born in history.ancestors[commit] for commit in first)
    return "before" if first and later else "together"


def read_history(root: Path) -> History:
    """The history of a repository, and its working tree as the last commit."""
    lines = _git(root, "rev-list", "--topo-order", "--reverse", "--parents", "HEAD").splitlines()
    parents = {commit: tuple(rest) for commit, *rest in (line.split() for line in lines)}
    snapshots = dict(_committed(root, list(parents)))
    head = _git(root, "rev-parse", "HEAD").strip()
    paths = sorted((root / "book").rglob("*.md"))
    texts = {str(path): path.read_text(encoding="utf-8") for path in paths}
    ledger = (root / LEDGER).read_text(encoding="utf-8")
    snapshots[WORKTREE] = Snapshot(_rows(ledger), _chapters(texts))
    return History({**parents, WORKTREE: (head,)}, snapshots)


def _committed(root: Path, commits: Sequence[str]) -> Iterator[tuple[str, Snapshot]]:
    """Yield what each commit holds; every version of a file is read once."""
    trees: dict[str, dict[str, str]] = {}
    for commit in commits:
        lines = _git(root, "ls-tree", "-r", commit, "--", str(LEDGER), "book").splitlines()
        named = ((path, about.split()[2]) for about, path in (line.split("\t") for line in lines))
        trees[commit] = {p: blob for p, blob in named if p == str(LEDGER) or p.endswith(".md")}
    texts = _blobs(root, sorted({blob for tree in trees.values() for blob in tree.values()}))
    for commit, tree in trees.items():
        ledger = tree.pop(str(LEDGER), None)
        rows = _rows(texts[ledger]) if ledger else {}
        yield commit, Snapshot(rows, _chapters({path: texts[blob] for path, blob in tree.items()}))


def _chapters(texts: Mapping[str, str]) -> dict[str, str]:
    return {_bare(path): text for path, text in texts.items()}


def _blobs(root: Path, names: Sequence[str]) -> dict[str, str]:
    """The texts of files by the names that git gives them."""
    done = subprocess.run(
        ["git", "cat-file", "--batch"],
        cwd=root,
        input="".join(f"{name}\n" for name in names).encode(),
        capture_output=True,
        check=True,
    )
    texts, rest = {}, memoryview(done.stdout)
    for name in names:
        end = bytes(rest[:200]).index(b"\n")
        size = int(bytes(rest[:end]).split()[2])
        texts[name] = bytes(rest[end + 1 : end + 1 + size]).decode()
        rest = rest[end + size + 2 :]
    return texts


@cache
def _rows(ledger: str) -> dict[str, Row]:
    """The judged rows of a ledger; none where it could not be read."""
    try:
        rows = yaml.load(ledger, LOADER)
    except yaml.YAMLError:
        return {}
    return {
        row["id"]: (Measure.of(row["measure"], row["chapter"]), _plain(row["expect"]))
        for row in rows or []
        if "expect" in row and "measure" in row
    }


def _plain(expect: Mapping[str, Any] | str) -> dict[str, Any]:
    """An expectation whose numbers are numbers, so that equal ones compare as equal."""
    given = {expect: True} if isinstance(expect, str) else dict(expect)  # once written so
    try:
        read = read_expectation(given)
    except (TypeError, ValueError):
        return given
    match read.form:
        case "within":
            return {"within": [read.low, read.high]}
        case "holds":
            return {"holds": True}
        case "at_most":
            return {"at_most": read.high}
        case form:
            return {form: read.low}


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


def record(root: Path, *, anew: bool) -> dict[str, Any]:
    """The document of the record."""
    known = {} if anew else read_record(root / PREREGISTRATION).get("rows", {})
    history = read_history(root)
    rows: dict[str, Any] = {}
    for name, trail in trails(history).items():
        expect = dict(trail.expect)
        if name in known and _plain(known[name]["expect"]) == expect:
            rows[name] = known[name]
            continue
        told = state(trail, history)
        was = [dict(one) for one in trail.was]
        if name in known and history.reported_before(WORKTREE, trail.names):
            # the record remembers what a shallow history may not
            earlier = [*known[name].get("was", ()), known[name]["expect"]]
            told, was = "changed", earlier + [one for one in was if one not in map(_plain, earlier)]
        rows[name] = {"preregistration": told, "expect": expect} | ({"was": was} if was else {})
    return {"commit": _git(root, "rev-parse", "--short=12", "HEAD").strip(), "rows": rows}


def write(document: Mapping[str, Any]) -> str:
    """The record as text, one line a row."""
    lines = (f"  {json.dumps(k)}: {json.dumps(row)}" for k, row in document["rows"].items())
    head = f'{{\n "commit": {json.dumps(document["commit"])},\n "rows": {{\n'
    return head + ",\n".join(lines) + "\n }\n}\n"


def unmarked(claims: Sequence[Claim], record: Mapping[str, Preregistration]) -> Iterator[str]:
    """Yield a sentence for each row of the ledger that the record does not know as it is."""
    again = f"run {COMMAND}, and commit the file."
    for claim in claims:
        if claim.expectation is None:
            continue
        known = record.get(claim.id)
        if known is None:
            yield f"Row {claim.id!r} is not in {PREREGISTRATION}: {again}"
        elif known.expectation != claim.expectation:
            yield (
                f"Row {claim.id!r} expects {claim.expectation}, and {PREREGISTRATION} says "
                f"{known.expectation}: a changed expectation is marked as changed by {COMMAND};"
                " run it, and commit the file."
            )
    ids = {claim.id for claim in claims if claim.expectation is not None}
    for name in record:
        if name not in ids:
            yield f"{PREREGISTRATION} has a row {name!r} that is not in the ledger: {again}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--anew", action="store_true")
    asked = parser.parse_args()
    root = Path(_git(Path.cwd(), "rev-parse", "--show-toplevel").strip())
    document = record(root, anew=asked.anew)
    (root / PREREGISTRATION).write_text(write(document), encoding="utf-8")
    states = [row["preregistration"] for row in document["rows"].values()]
    for name in ("before", "together", "after", "changed"):
        print(f"{name}: {states.count(name)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
