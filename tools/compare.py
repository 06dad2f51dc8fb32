"""Two builds held against each other: python -m tools.compare BEFORE AFTER [--except KEY ...].

BEFORE and AFTER are folders of results, `_build/results` of two checkouts. Every measure and every
figure of every chapter, as executed last in the paper profile, must be equal: measures to the bit,
arrays to the nine digits that are published, drawings to the byte. Keys that are named, such as
timings, may differ. Ends with 1 if anything differs or is missing.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bookbuild.results.contents import contents_of
from bookbuild.results.executed import Entry
from bookbuild.results.store import Store

Contents = dict[str, dict[str, Any]]  # by chapter, and by a name that can be printed


def newest(folder: Path, profile: str) -> Contents:
    """What is compared of the last execution of each chapter in a profile."""
    store = Store(folder)
    heads = [head for head in store.headers() if head["kind"] == "chapter"]
    found = {}
    for head in sorted(heads, key=lambda head: head["date"]):
        if head["origin"]["profile"] == profile:
            stored, remark = store.get(head["key"])
            if stored is None:
                sys.exit(remark or f"The result {head['key']} is no longer in the store.")
            entry = Entry.of(stored)
            drawn = {f"drawing {k}": v for k, v in entry.figures.items() if k[-5:] != ".json"}
            found[head["name"]] = {k: repr(v) for k, v in contents_of(entry).items()} | drawn
    return found


def differences(before: Contents, after: Contents, allowed: set[str]) -> Iterator[str]:
    """A line for each thing that is missing, new or different."""
    for chapter in sorted(before.keys() | after.keys()):
        if chapter not in before or chapter not in after:
            yield f"{chapter}: only {'before' if chapter in before else 'after'}"
            continue
        one, other = before[chapter], after[chapter]
        for name in sorted(one.keys() | other.keys()):
            if name.rpartition(" ")[2] in allowed:
                continue
            if name not in one or name not in other:
                yield f"{chapter}: {name} only {'before' if name in one else 'after'}"
            elif one[name] != other[name]:
                brief = [str(side[name])[:60] for side in (one, other)]
                yield f"{chapter}: {name} differs: {brief[0]} | {brief[1]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--profile", default="paper")
    parser.add_argument("--except", nargs="*", default=[], dest="allowed", metavar="KEY")
    asked = parser.parse_args()
    before, after = (newest(folder, asked.profile) for folder in (asked.before, asked.after))
    if not before or not after:
        sys.exit("One of the two folders has no executed chapter of this profile.")
    counts = Counter(name.partition(" ")[0] for names in after.values() for name in names)
    lines = list(differences(before, after, set(asked.allowed)))
    print("\n".join(lines))
    compared = ", ".join(f"{number} {kind}s" for kind, number in sorted(counts.items()))
    print(f"{len(after)} chapters: {compared}; {len(lines)} differences")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
