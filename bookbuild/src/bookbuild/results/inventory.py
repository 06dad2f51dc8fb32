"""What of the store the current book needs."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bookbuild.settings import Settings
from bookbuild.source.chapters import Chapter, read_chapters, read_toc

from .keys import chapter_key, task_key
from .snapshot import sources
from .store import OTHERS, Store


def prune(settings: Settings) -> list[int]:
    """Remove what the current book does not need, whatever its profile; return the sizes."""
    Store(settings.results).tidy()
    gone = []
    for path in [*unneeded(settings), *(settings.results / OTHERS).glob("*")]:
        gone.append(path.stat().st_size)
        path.unlink()
    return gone


def unneeded(settings: Settings) -> Iterator[Path]:
    """Yield the files of results that are damaged, or that other code or data have made."""
    every = read_chapters(settings.root, read_toc(settings.root))
    chapters, store = {chapter.name: chapter for chapter in every}, Store(settings.results)
    for key in store.listed():
        stored, _ = store.get(key, mend=False)
        if stored is None or _current_key(stored.origin, settings, chapters) != key:
            yield store.path(key)


def _current_key(
    origin: Mapping[str, Any], settings: Settings, chapters: Mapping[str, Chapter]
) -> str | None:
    """Return the key under which a result of this origin would be stored today, if any."""
    if "task" not in origin:
        chapter = chapters.get(origin["chapter"])
        made = {name: origin[name] for name in ("profile", "device", "seed")}
        return chapter_key(chapter, replace(settings, **made)) if chapter else None
    return task_key(origin["task"], origin["device"], sources(settings))
