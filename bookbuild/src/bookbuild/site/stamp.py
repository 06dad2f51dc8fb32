"""The stamp of a site: what it was made from, so that a build without changes can end early.

It holds what the build printed, and a digest of everything that a build reads, of the size and the
time of each stored result that the build used, and of the site. If one of these has changed, the
site is built again.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import distributions
from pathlib import Path

from bookbuild.results.executed import Entry
from bookbuild.results.keys import digest
from bookbuild.results.machine import gpu
from bookbuild.results.store import Store, write_whole
from bookbuild.settings import Settings

NAME = "site-stamp.json"
UNREAD = {"tests", "__pycache__"}  # folders of the tree that no build reads, beside hidden ones


@dataclass(frozen=True)
class Told:
    """What a build says: verdicts as a table, what did not hold, chapters and their seconds."""

    verdicts: list[list[str]]
    amiss: list[str]
    executed: int
    seconds_executed: float
    cached: int
    seconds_cached: float


def ingredients(settings: Settings) -> str:
    """Return a digest of all that a build reads: options, packages, and files of the tree."""
    return digest(
        {
            "options": settings.parameters | {"store": settings.store},
            "gpu": gpu() if settings.device == "cuda" else None,
            "packages": sorted({f"{found.name} {found.version}" for found in distributions()}),
            "files": _digest(_tree(settings.root, settings.build), settings.root),
        }
    )


def put(settings: Settings, made_from: str, entries: Iterable[Entry], told: Told) -> None:
    """Stamp the site that has just been made."""
    keys = [entry.key for entry in entries]
    stamp = {"state": _state(settings, made_from, keys), "keys": keys, "told": asdict(told)}
    write_whole(_path(settings), json.dumps(stamp).encode())


def unbroken(settings: Settings, made_from: str) -> Told | None:
    """Return what was told of a site that a build would make again as it is."""
    try:
        stamp = json.loads(_path(settings).read_bytes())
        told, state = Told(**stamp["told"]), _state(settings, made_from, stamp["keys"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if stamp.get("state") != state:
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


def _state(settings: Settings, made_from: str, keys: Sequence[str]) -> str:
    """Return a digest of ingredients, stored results and site; raise OSError without a result."""
    results = [Store(settings.results).path(key).stat() for key in keys]
    written = [(result.st_size, result.st_mtime_ns) for result in results]
    site = _digest(filter(Path.is_file, settings.site.rglob("*")), settings.site)
    return digest({"from": made_from, "results": written, "site": site})


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
