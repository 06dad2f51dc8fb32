"""Archive of a published run: its sealed results and a manifest, in one zip file."""

import hashlib
import json
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from bookbuild.errors import BookError, raise_if_any
from bookbuild.schema import faults
from bookbuild.settings import Settings
from bookbuild.source.chapters import Chapter

from .executed import Entry
from .keys import chapter_fingerprint, chapter_key, task_fingerprint, task_key
from .snapshot import sources
from .store import SUFFIX, DamagedError, Kind, Store, Stored, opened, reason

NAME = "results.zip"
MANIFEST = "manifest.json"
SCHEMA = Path(__file__).with_name("archive.schema.json")
SAID = (
    "commit",
    "date",
    "machine",
    "gpu",
    "threads",
    "versions",
    "seconds",
    "memory",
    "gpu_memory",
    "gpu_busy",
)  # of where a result was made


@dataclass(frozen=True)
class Item:
    """A published result: an executed chapter or a training of a sweep.

    Its fingerprint stands for the code and the data that made it, whatever the versions below.
    """

    key: str
    kind: Kind
    name: str
    fingerprint: str
    sha256: str
    made: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Archive:
    """A published run, opened."""

    path: Path
    profile: str
    device: str
    seed: int
    items: tuple[Item, ...]

    def stored(self, item: Item) -> Stored:
        """Return a result; raise DamagedError if not every byte of it is as published."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                content = archive.read(f"{item.key}{SUFFIX}")
        except (zipfile.BadZipFile, KeyError, OSError, ValueError) as error:
            raise DamagedError("cannot be read") from error
        if hashlib.sha256(content).hexdigest() != item.sha256:
            raise DamagedError("is not the one that the manifest names")
        return opened(content, item.key)

    def damaged(self) -> Iterator[str]:
        """Yield a sentence for each result that is not as it was published."""
        for item in self.items:
            try:
                self.stored(item)
            except DamagedError as damage:
                yield f"The published result {item.key} ({item.name}) {damage}."

    def of_kind(self, kind: Kind) -> list[Item]:
        """Return the chapters, or the trainings."""
        return [item for item in self.items if item.kind == kind]

    def entry(self, chapter: Chapter, settings: Settings) -> tuple[Entry | None, str]:
        """Return what was published of a chapter, if its code and data are still the same.

        A damaged one is none, and a sentence tells of it.
        """
        item = self._chapters.get(chapter.name)
        if item is None or item.fingerprint != chapter_fingerprint(chapter, settings):
            return None, ""
        try:
            stored = self.stored(item)
        except DamagedError as damage:
            return None, f"The published result of {chapter.name} {damage}: executed here."
        return Entry.of(stored), ""

    def lend_trainings(self, settings: Settings, *, but: Sequence[Item] = ()) -> int:
        """Put sound trainings of today's code into the store; return how many.

        They are kept under the keys of this machine's versions, with the origin they came with.
        """
        store, lent = Store(settings.results), 0
        for item in self.of_kind("sweep"):
            if item in but:
                continue
            try:
                stored = self.stored(item)
            except DamagedError:
                continue
            task, device = stored.origin["task"], stored.origin["device"]
            if task_fingerprint(task, sources(settings)) != item.fingerprint:
                continue
            key = task_key(task, device, sources(settings))
            if not store.path(key).exists():
                store.put(key, stored.kind, stored.name, stored.origin, stored.files)
                lent += 1
        return lent

    @cached_property
    def _chapters(self) -> dict[str, Item]:
        return {item.name: item for item in self.of_kind("chapter")}


def write_archive(path: Path, chapters: Sequence[Chapter], settings: Settings) -> Archive:
    """Write every executed chapter and the trainings of its first seed; return the archive.

    Raises BookError where a chapter has not been executed.
    """
    store = Store(settings.results)
    items: list[tuple[Item, bytes]] = []
    missing: list[str] = []
    for chapter in chapters:
        key = chapter_key(chapter, settings)
        stored, _ = store.get(key)
        if stored is None:
            missing.append(
                f"Chapter {chapter.name} has not been executed: run make reproduce first."
            )
            continue
        items.append(_item(store, stored, chapter_fingerprint(chapter, settings)))
    raise_if_any(missing)
    for stored in _trainings(store, settings):
        fingerprint = task_fingerprint(stored.origin["task"], sources(settings))
        items.append(_item(store, stored, fingerprint))
    archive = Archive(
        path,
        settings.profile,
        settings.device,
        settings.seed,
        tuple(item for item, _ in items),
    )
    manifest = {
        "profile": archive.profile,
        "device": archive.device,
        "seed": archive.seed,
        "items": [asdict(item) for item in archive.items],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(MANIFEST, json.dumps(manifest, indent=1))
        for item, content in items:
            file.writestr(f"{item.key}{SUFFIX}", content)
    return archive


def open_archive(path: Path) -> Archive:
    """Return the archive in a file; raise BookError with a sentence for one that is none."""
    try:
        with zipfile.ZipFile(path) as file:
            manifest = json.loads(file.read(MANIFEST))
    except OSError as error:
        raise BookError(f"{path} cannot be read: {reason(error)}.") from error
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise BookError(f"{path} is no archive of results.") from error
    raise_if_any(f"{path}, {MANIFEST}: {fault.clause}." for fault in faults(manifest, SCHEMA))
    items = tuple(Item(**item) for item in manifest.pop("items"))
    return Archive(path, items=items, **manifest)


def _trainings(store: Store, settings: Settings) -> Iterator[Stored]:
    """Yield the results of sweeps at the current code, of this device and first seed."""
    for header in list(store.headers()):
        origin = header["origin"]
        ours = origin.get("seed", settings.seed) == settings.seed
        ours &= origin.get("profile", settings.profile) == settings.profile
        if header["kind"] != "sweep" or origin["device"] != settings.device or not ours:
            continue
        if task_key(origin["task"], origin["device"], sources(settings)) == header["key"]:
            stored, _ = store.get(header["key"], mend=False)
            if stored is not None:
                yield stored


def _item(store: Store, stored: Stored, fingerprint: str) -> tuple[Item, bytes]:
    """Return the entry of a result in the manifest, and its bytes."""
    made = {name: stored.origin[name] for name in SAID if name in stored.origin}
    content = store.path(stored.key).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    return Item(stored.key, stored.kind, stored.name, fingerprint, digest, made), content
