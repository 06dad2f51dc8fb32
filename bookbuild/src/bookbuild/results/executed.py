"""Executed chapters: how they are stored, what they contain, and the numbers among it."""

import json
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
from nbformat import NotebookNode

from bookbuild.reporting.measures import read_measures
from bookbuild.reporting.notebook import FIGURES_FOLDER, MEASURES_FILE
from bookbuild.settings import BuildSettings

from .store import Store, Stored

NOTEBOOK_FILE = "notebook.ipynb"


@dataclass(frozen=True)
class ExecutedChapter:
    """An executed chapter: its files (notebook, measures, figures), its origin, its key.

    The origin names chapter, profile, device, seed, commit, versions, date, seconds and what it
    used: `memory` in bytes, and what `machine.tell_usage` tells of a GPU.
    """

    files: Mapping[str, bytes]
    origin: Mapping[str, Any]
    key: str = ""

    @classmethod
    def of(cls, stored: Stored) -> "ExecutedChapter":
        """The chapter that a stored result is."""
        return cls(stored.files, stored.origin, stored.key)

    @property
    def notebook(self) -> NotebookNode:
        """The executed notebook."""
        return nbformat.reads(self.files[NOTEBOOK_FILE].decode(), as_version=4)

    @property
    def measures(self) -> dict[str, dict[str, Any]]:
        """What the chapter reported, by key."""
        return read_measures(self.files.get(MEASURES_FILE, b"{}"))

    @cached_property
    def figures(self) -> dict[str, bytes]:
        """The figures and their data, by file name."""
        start = f"{FIGURES_FOLDER}/"
        return {
            name.removeprefix(start): content
            for name, content in self.files.items()
            if name.startswith(start)
        }

    def write_figures(self, folder: Path) -> None:
        """Write the figures and their data to a new folder, if there are any."""
        for name, content in self.figures.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


Entries = Mapping[str, ExecutedChapter]  # by chapter


def find(settings: BuildSettings, key: str) -> tuple[ExecutedChapter | None, str]:
    """Return the entry of a key, if there is a sound one, and a sentence if it is damaged."""
    stored, remark = Store(settings.results).get(key)
    return ExecutedChapter.of(stored) if stored else None, remark


def store(
    settings: BuildSettings, key: str, origin: Mapping[str, Any], folder: Path
) -> ExecutedChapter:
    """Keep the files below a folder as the entry of a key; raise BookError if that fails."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    return ExecutedChapter.of(
        Store(settings.results).put(key, "chapter", origin["chapter"], origin, files)
    )


def numbers_of(entry: ExecutedChapter, timings: Set[str] = frozenset()) -> dict[str, Any]:
    """Return the measures but for timings, and the data of figures, as numbers without any text.

    Names of settings and of arrays are those of the code: here their order stands for them.
    """
    measures = {k: _bare(m["value"]) for k, m in entry.measures.items() if k not in timings}
    return {"measures": measures, "figures": {name: _bare(data) for name, data in _figures(entry)}}


def _figures(entry: ExecutedChapter) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, content in entry.figures.items():
        if name.endswith(".json"):
            yield name.removesuffix(".json"), json.loads(content)["data"]


def _bare(value: Any) -> Any:
    """Return numbers as an array, or as a list of such where they form none; NaN for a text."""
    if isinstance(value, dict):
        return [_bare(item) for item in value.values()]
    if not isinstance(value, list):
        return float("nan") if value is None or isinstance(value, str) else value
    items = [_bare(item) for item in value]
    if len({np.shape(item) for item in items}) > 1 or any(isinstance(x, list) for x in items):
        return items
    return np.array(items)
