"""Which ends are computed again: data/ends/covered.json, from which pages say what is not."""

import json
from typing import Any

from . import stored
from .resume import end_of

PATH = stored.FOLDER / "covered.json"


def covered() -> dict[str, dict[str, list[int]]]:
    """Of each file of stored runs the places of entries, from 0.

    Those of `whole` are computed again with all their runs, those of `part` with some of them, and
    those of `none` not at all.
    """
    found: dict[str, dict[str, list[int]]] = {}
    for file, path in stored.files().items():
        kinds: dict[str, list[int]] = {"whole": [], "part": [], "none": []}
        for place in range(len(stored.entries(file))):
            end = end_of(file, place)
            kinds["none" if end is None else "whole" if end.whole else "part"].append(place)
        found[path] = kinds
    return found


def read() -> Any:
    """What is written."""
    return json.loads(PATH.read_text(encoding="utf-8"))


def write() -> None:
    """Write the record of the states that are there."""
    PATH.write_text(json.dumps(covered(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
