"""Keep executed chapters under a key of everything that could change their outputs."""

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from bookbuild.chapters import Chapter, tags
from bookbuild.imports import find_imports
from bookbuild.provenance import versions
from bookbuild.reporting import MEASURES_FILE
from bookbuild.settings import Settings

NOTEBOOK_FILE = "notebook.ipynb"
ENTRY_FILE = "entry.json"
CHECKSUM_FILE = "SHA256SUMS"


@dataclass(frozen=True)
class Entry:
    """An executed chapter: a folder with its notebook, its measures, its figures, its origin."""

    folder: Path

    @property
    def notebook(self) -> NotebookNode:
        """The executed notebook."""
        return nbformat.read(self.folder / NOTEBOOK_FILE, as_version=4)

    @property
    def measures(self) -> dict[str, dict[str, Any]]:
        """What the chapter reported, by key."""
        return _json(self.folder / MEASURES_FILE, default={})

    @property
    def origin(self) -> dict[str, Any]:
        """Chapter, profile, device, seed, commit, versions, date and seconds of the execution."""
        return _json(self.folder / ENTRY_FILE, default={})


def chapter_key(chapter: Chapter, settings: Settings) -> str:
    """Return the key of a chapter's outputs; its prose is not part of it."""
    src = settings.root / "src"
    imports = find_imports((cell.source for cell in chapter.code), src)
    files = {path.relative_to(settings.root): path for path in (*imports.files, *chapter.data)}
    ingredients = {
        "chapter": chapter.name,
        "cells": [[cell.source, tags(cell)] for cell in chapter.code],
        "parameters": settings.parameters,
        "files": {name.as_posix(): _sha256(path) for name, path in sorted(files.items())},
        "versions": versions(_distributions(imports.packages)),
    }
    text = json.dumps(ingredients, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def find(settings: Settings, key: str) -> tuple[Entry | None, str]:
    """Return the entry of a key, if there is a sound one, and a sentence if it is damaged."""
    folder = settings.cache / key
    if not folder.is_dir():
        return None, ""
    if _checksums(folder) == _recorded_checksums(folder):
        return Entry(folder), ""
    aside = settings.cache / f"damaged-{key}"
    shutil.rmtree(aside, ignore_errors=True)
    folder.rename(aside)
    return None, f"Stored result {key} is damaged: set aside as {aside.name}, computed again."


def store(settings: Settings, key: str, folder: Path) -> Entry:
    """Seal a folder with checksums and rename it to its place in the cache."""
    sums = "".join(f"{digest}  {name}\n" for name, digest in _checksums(folder).items())
    (folder / CHECKSUM_FILE).write_text(sums, encoding="utf-8")
    target = settings.cache / key
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.rename(folder, target)
    except OSError:
        # Another build finished the same chapter first; its result is as good as this one.
        if not target.is_dir():
            raise
    return Entry(target)


def earlier_seconds(settings: Settings) -> dict[str, float]:
    """Return how long each chapter took the last time it was executed in this profile."""
    origins = [Entry(path.parent).origin for path in settings.cache.glob(f"*/{ENTRY_FILE}")]
    ours = [origin for origin in origins if origin.get("profile") == settings.profile]
    ours.sort(key=lambda origin: origin["date"])
    return {origin["chapter"]: origin["seconds"] for origin in ours}


@cache
def _providers() -> dict[str, list[str]]:
    return dict(packages_distributions())


def _distributions(packages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the distributions that provide the packages, and those that render outputs."""
    provided = {name for package in packages for name in _providers().get(package, [])}
    return tuple(sorted(provided | {"ipykernel", "myst-nb"}))


def _checksums(folder: Path) -> dict[str, str]:
    """Return the checksum of each file below a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): _sha256(path)
        for path in files
        if path.name != CHECKSUM_FILE
    }


def _recorded_checksums(folder: Path) -> dict[str, str]:
    """Return the checksums written when the entry was stored; empty if they cannot be read."""
    try:
        lines = (folder / CHECKSUM_FILE).read_text(encoding="utf-8").splitlines()
        return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    except (OSError, ValueError):
        return {}


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _json(path: Path, *, default: Any) -> Any:
    """Return the content of a JSON file, or the default where there is none that can be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return default
