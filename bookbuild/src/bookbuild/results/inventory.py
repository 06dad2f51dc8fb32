"""An inventory of the store: what is kept, and what of it the current book needs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bookbuild.settings import Settings
from bookbuild.source.chapters import Chapter, read_chapters, read_toc

from .keys import chapter_key, task_key
from .snapshot import sources
from .store import OTHERS, Store

WORTHLESS = ("damaged", "outdated")


@dataclass(frozen=True)
class Item:
    """A stored file: what it is, how old and large, and whether it is still of use."""

    key: str
    name: str
    made_for: str
    seconds_old: float
    size: int
    state: str
    path: Path


def list_results(settings: Settings) -> list[Item]:
    """Return everything that is stored, the newest first."""
    chapters = read_chapters(settings.root, read_toc(settings.root))
    known = {chapter.name: chapter for chapter in chapters}
    items = list(_results(settings, known))
    aside = (settings.results / OTHERS).glob("*")
    items += [_item(path.stem, {}, path, "damaged") for path in aside]
    return sorted(items, key=lambda item: item.seconds_old)


def prune(settings: Settings) -> list[Item]:
    """Remove what the current book does not need, whatever its profile; return what went."""
    Store(settings.results).tidy()
    gone = [item for item in list_results(settings) if item.state in WORTHLESS]
    for item in gone:
        item.path.unlink(missing_ok=True)
    aside = settings.results / OTHERS
    if aside.is_dir() and not any(aside.iterdir()):
        aside.rmdir()
    return gone


def readable_age(seconds: float) -> str:
    """Return an age in its largest fitting unit."""
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def _results(settings: Settings, chapters: dict[str, Chapter]) -> Iterator[Item]:
    store = Store(settings.results)
    for key in store.listed():
        stored, damage = store.get(key, mend=False)
        header: dict[str, Any] = {"name": stored.name, "origin": stored.origin} if stored else {}
        current = bool(header) and _current_key(header["origin"], settings, chapters) == key
        state = "damaged" if damage else "current" if current else "outdated"
        yield _item(key, header, store.path(key), state)


def _current_key(
    origin: dict[str, Any], settings: Settings, chapters: dict[str, Chapter]
) -> str | None:
    """Return the key under which a result of this origin would be stored today, if any."""
    if "task" not in origin:
        chapter = chapters.get(origin["chapter"])
        made = {name: origin[name] for name in ("profile", "device", "seed")}
        return chapter_key(chapter, replace(settings, **made)) if chapter else None
    return task_key(origin["task"], origin["device"], sources(settings))


def _item(key: str, header: dict[str, Any], path: Path, state: str) -> Item:
    status = path.stat()
    origin = header.get("origin", {})
    shown = {name: origin[name] for name in ("profile", "device", "seed") if name in origin}
    if "task" in origin:
        for name, value in origin["task"]["configuration"].items():
            shown |= value if isinstance(value, dict) else {name: value}
    made_for = ", ".join(f"{name}={value}" for name, value in shown.items() if name)
    age = datetime.now(UTC).timestamp() - status.st_mtime
    return Item(key, header.get("name", "?"), made_for, age, status.st_size, state, path)
