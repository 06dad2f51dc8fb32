"""The files of stored runs of this book, their entries, and the states that belong to them."""

import importlib
from functools import cache
from pathlib import Path
from typing import Any

from bookbuild.source.book import read_book
from running.records import Entry, StoredRuns
from tools.this_book import ROOT

from . import states

FOLDER = ROOT / "data" / "ends"


@cache
def files() -> dict[str, str]:
    """The paths of all files of stored runs below the repository, by name."""
    return {Path(path).stem: path for path in read_book(ROOT).stored_runs}


@cache
def declared(file: str) -> StoredRuns:
    """The declaration of a file of stored runs, by its name."""
    runs: StoredRuns = importlib.import_module(read_book(ROOT).stored_runs[files()[file]]).RUNS
    return runs


@cache
def entries(file: str) -> tuple[Entry, ...]:
    """The entries of a file of stored runs, by its name."""
    return tuple(declared(file).entries((ROOT / files()[file]).read_text(encoding="utf-8")))


@cache
def arrays(file: str) -> dict[str, Any]:
    """The states that belong to a file, packed; empty where there are none."""
    return states.read(FOLDER / f"{file}.npz")


def state(file: str, key: str) -> list[dict[str, Any]] | None:
    """The states of an entry's trainings, in their order; None where there are none."""
    try:
        found: list[dict[str, Any]] = states.unpacked(arrays(file), key)
    except KeyError:
        return None
    return found
