"""The stamp of a site: what it was made from, so that a build without changes can end early.

It holds a digest of everything that a build reads, the size and the time of each stored result that
the build used, a digest of the site, and what the build printed. If one of the first three has
changed, the site is built again.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from bookbuild.results.executed import Entry
from bookbuild.results.keys import digest
from bookbuild.results.machine import gpu
from bookbuild.results.store import Store, write_whole
from bookbuild.settings import Settings

NAME = "site-stamp.json"
UNREAD = {"tests", "__pycache__"}  # folders of the tree that no build reads, beside hidden ones


@dataclass(frozen=True)
class Told:
    """What a build says: verdicts as a table, what did not hold, chapters and their seconds; on a
    GPU a table of what each chapter took there."""

    verdicts: list[list[str]]
    amiss: list[str]
    executed: int
    seconds_executed: float
    cached: int
    seconds_cached: float
    devices: list[list[str]]


def ingredients(settings: Settings) -> str:
    """Return a digest of all that a build reads: options, packages, and files of the tree."""
    return digest(
        {
            "options": settings.parameters | {"part": settings.part, "store": settings.store},
            "gpu": gpu() if settings.device == "cuda" else None,
            "packages": sorted({f"{found.name} {found.version}" for found in distributions()}),
            "files": _digest(_tree(settings.root, settings.build), settings.root),
        }
    )


def put(settings: Settings, made_from: str, entries: Iterable[Entry], told: Told) -> None:
    """Stamp the site that has just been made."""
    results = {entry.key: _written(settings, entry.key) for entry in entries}
    stamp = {"from": made_from, "site": _site(settings), "results": results, "told": asdict(told)}
    write_whole(_path(settings), json.dumps(stamp).encode())


def unbroken(settings: Settings, made_from: str) -> Told | None:
    """Return what was told of a site that a build would make again as it is."""
    try:
        stamp = json.loads(_path(settings).read_bytes())
        told, results = Told(**stamp["told"]), dict(stamp["results"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    found = {key: _written(settings, key) for key in results}
    if stamp.get("from") != made_from or found != results or None in found.values():
        return None
    if stamp.get("site") != _site(settings):
        return None
    return replace(
        told,
        executed=0,
        seconds_executed=0.0,
        cached=told.executed + told.cached,
        seconds_cached=told.seconds_executed + told.seconds_cached,
    )


def _path(settings: Settings) -> Path:
    return settings.site.with_name(NAME)


def _site(settings: Settings) -> str:
    return _digest(filter(Path.is_file, settings.site.rglob("*")), settings.site)


def _written(settings: Settings, key: str) -> list[Any] | None:
    """Return how long a stored result is and when it was written; None without one."""
    try:
        found = Store(settings.results).path(key).stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]


def _tree(folder: Path, built: Path) -> Iterator[Path]:
    """Yield the files of a tree that a build may read."""
    for path in folder.iterdir():
        if path == built or path.name.startswith(".") or path.name in UNREAD:
            continue
        if path.is_dir():
            yield from _tree(path, built)
        elif path.is_file() and path.suffix != ".ipynb":  # those are a reader's, see publish
            yield path


def _digest(files: Iterable[Path], folder: Path) -> str:
    """Return one digest of files with their places."""
    whole = hashlib.sha256()
    for path in sorted(files):
        name = path.relative_to(folder).as_posix()
        whole.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()
