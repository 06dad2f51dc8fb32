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
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from bookbuild.ledger.claims import LEDGER
from bookbuild.ledger.preregistration import PREREGISTRATION
from evidence.repository import History
from evidence.versions import Expectation, Measure, bare, read_rows, reports


class Trail(NamedTuple):
    """A row so far: where its expectation began, what it was before, its measure's names."""

    born: str
    expect: Expectation
    names: frozenset[Measure]
    was: tuple[Expectation, ...] = ()


class Ledgers:
    """The history of a book: the rows of each commit, and what its chapters report."""

    def __init__(self, root: Path) -> None:
        self.history = History(root, str(LEDGER), "book/*.md")
        files = self.history.files.items()
        self.rows = {commit: read_rows(texts.get(str(LEDGER), "")) for commit, texts in files}
        self.chapters: dict[str, dict[str, str]] = {}
        for commit, texts in files:
            found = self.chapters[commit] = {}
            for path in sorted(texts.keys() - {str(LEDGER)}):  # two chapters may have one bare name
                found[bare(path)] = f"{found.get(bare(path), '')}\n{texts[path]}"

    def first_reports(self, names: Iterable[Measure]) -> set[str]:
        """The commits that report a measure under a name, and have no ancestor that does."""
        return {commit for name in names for commit in _first(self, name)}


@cache
def _first(ledgers: Ledgers, measure: Measure) -> list[str]:
    key, chapter = measure
    found: list[str] = []
    for commit, texts in ledgers.chapters.items():
        told = reports(texts.get(chapter, ""), key)
        if told and not ledgers.history.follows(commit, found):
            found.append(commit)
    return found


def _trails(ledgers: Ledgers) -> dict[str, Trail]:
    """The rows of the last commit, each with its past; a row that was gone for a time has one."""
    at: dict[str, dict[str, Trail]] = {}
    for commit, parents in ledgers.history.parents.items():
        rows, at[commit] = ledgers.rows[commit], {}
        for parent in parents:
            at[commit] |= at[parent]
        if [rows] == [ledgers.rows[parent] for parent in parents]:
            continue
        for name, (measure, expect) in rows.items():
            pasts = [at[parent] for parent in parents]
            gone = [
                t
                for past in pasts
                for other, t in past.items()
                if other not in rows and measure in t.names
            ]  # other rows of its measure
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
        after = ledgers.history.follows(past.born, ledgers.first_reports(past.names))
        return len(past.was), after

    past = max(same or earlier, key=late, default=None)  # of several the least favourable
    if past is not None:
        names = past.names | {measure}
        if same:
            return past._replace(names=names)
        if ledgers.history.follows(commit, ledgers.first_reports(names)):
            return Trail(past.born, expect, names, (*past.was, past.expect))
    return Trail(commit, expect, frozenset({measure}))


def _state(trail: Trail, ledgers: Ledgers) -> str:
    """When the expectation of a row was written."""
    first = ledgers.first_reports(trail.names)
    if trail.was:
        return "changed"
    if ledgers.history.follows(trail.born, first):
        return "after"
    later = all(ledgers.history.follows(commit, [trail.born]) for commit in first)
    return "before" if first and later else "together"


def derived(root: Path) -> dict[str, Any]:
    """The document of the record, wholly from the history; BookError where that is not whole."""
    ledgers = Ledgers(root)
    rows = {
        name: {"preregistration": _state(trail, ledgers), "expect": trail.expect}
        | ({"was": list(trail.was)} if trail.was else {})
        for name, trail in _trails(ledgers).items()
    }
    return {"rows": rows}


def main() -> None:
    """Write the record, one line a row, and print how many rows are in each state."""
    root = Path(__file__).parents[1]
    rows = derived(root)["rows"]
    lines = (f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    text = '{\n "rows": {\n' + ",\n".join(lines) + "\n }\n}\n"
    (root / PREREGISTRATION).write_text(text, encoding="utf-8")
    for state, count in Counter(row["preregistration"] for row in rows.values()).items():
        print(f"{state}: {count}")


if __name__ == "__main__":
    main()
