"""Archive of a published run: its sealed results and a manifest, in one zip file."""

import hashlib
import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from bookbuild.errors import BookError, raise_if_any
from bookbuild.schema import faults
from bookbuild.settings import Settings
from bookbuild.source.chapters import Chapter

from .admission import admitted
from .executed import Entry
from .keys import chapter_fingerprint, chapter_key, task_fingerprint, task_key
from .snapshot import sources
from .store import SUFFIX as RESULT
from .store import UNREADABLE, DamagedError, Kind, Store, Stored, opened, reason, sealed, unpacked
from .values import from_files

NAME = "results.zip"
MANIFEST = "manifest.json"
SCHEMA = Path(__file__).with_name("archive.schema.json")
MOST_FILES, MOST_BYTES = 20_000, 2**31  # of an archive, unpacked
MOST_RATIO = 30  # of its bytes, unpacked and packed; the results of this book come to 3
SEALED_AS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
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
    """A published result: an executed chapter, a training of a sweep, or a stored run.

    Its fingerprint stands for the code and the data that made it, whatever the versions below. All
    that is said here is what the archive says: it is compared, and never decides what is executed.
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
                content = archive.read(f"{item.key}{RESULT}")
        except UNREADABLE as error:
            raise DamagedError("cannot be read") from error
        if hashlib.sha256(content).hexdigest() != item.sha256:
            raise DamagedError("is not the one that the manifest names")
        stored = opened(content, item.key)
        origin = stored.origin
        if (stored.kind, stored.name, _made(origin)) != (item.kind, item.name, item.made):
            raise DamagedError("does not agree with its entry in the manifest")
        here = {"profile": self.profile, "seed": self.seed}
        if any(origin.get(name, value) != value for name, value in here.items()):
            raise DamagedError("is of another profile or seed than the archive")
        return stored

    def of_kind(self, kind: Kind) -> list[Item]:
        """Return the chapters, the trainings or the stored runs."""
        return [item for item in self.items if item.kind == kind]

    def entry(self, chapter: Chapter, settings: Settings) -> tuple[Entry | None, str]:
        """Return what was published of a chapter, if its code and data are still the same.

        A damaged one is none, nor one that no execution could have made: a sentence tells of it.
        """
        items = (item for item in self.of_kind("chapter") if item.name == chapter.name)
        item = next(items, None)
        if item is None or item.fingerprint != chapter_fingerprint(chapter, settings):
            return None, ""
        try:
            return admitted(self.stored(item), chapter, self.settings(settings)), ""
        except DamagedError as damage:
            return None, f"The published result of {chapter.name} {damage}: executed here."

    def settings(self, settings: Settings) -> Settings:
        """Return settings of a build that makes what is published."""
        return replace(settings, profile=self.profile, device=self.device, seed=self.seed)

    def lend_trainings(self, settings: Settings) -> None:
        """Put sound trainings of today's code into the store.

        They are kept under the keys of this machine's versions, with the origin they came with. A
        build that starts from published results takes them on trust; `verify` lends none.
        """
        store = Store(settings.results)
        for item in self.of_kind("sweep"):
            try:
                stored = self.stored(item)
                from_files(stored.files)
                task = stored.origin["task"]
                if task_fingerprint(task, sources(settings)) != item.fingerprint:
                    continue
                key = task_key(task, self.device, sources(settings))
            except (*UNREADABLE, AttributeError, DamagedError):
                continue
            if not store.path(key).exists():
                store.put(key, stored.kind, stored.name, stored.origin, stored.files)


def write_archive(
    path: Path, chapters: Sequence[Chapter], settings: Settings, runs: Iterable[Stored] = ()
) -> Archive:
    """Write every executed chapter, the trainings of its first seed, and stored runs.

    Its SHA-256 is written beside it. Returns the archive.

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
        items.append(_item(stored, chapter_fingerprint(chapter, settings)))
    raise_if_any(missing)
    for stored in _trainings(store, settings):
        fingerprint = task_fingerprint(stored.origin["task"], sources(settings))
        items.append(_item(stored, fingerprint))
    items += (_item(stored, stored.key) for stored in runs)
    found = tuple(item for item, _ in items)
    archive = Archive(path, settings.profile, settings.device, settings.seed, found)
    manifest = asdict(archive)
    del manifest["path"]
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(MANIFEST, json.dumps(manifest, indent=1))
        for item, content in items:
            file.writestr(f"{item.key}{RESULT}", content)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_name(f"{path.name}.sha256").write_text(f"{digest}  {path.name}\n", encoding="utf-8")
    return archive


def open_archive(path: Path) -> Archive:
    """Return the archive in a file, of which nothing is unpacked but the manifest.

    Raises BookError, with a sentence, for a file that is none, one that would unpack to more than
    a book can be, and one whose files are not those that its manifest names.
    """
    try:
        with zipfile.ZipFile(path) as file:
            most = min(MOST_BYTES, MOST_RATIO * path.stat().st_size)
            names = set(unpacked(file, most, SEALED_AS))
            if len(names) > MOST_FILES:
                raise ValueError(f"holds more than {MOST_FILES} files")
            text = file.read(MANIFEST)
    except OSError as error:
        raise BookError(f"{path} cannot be read: {reason(error)}.") from error
    except UNREADABLE as error:
        said = str(error) if type(error) is ValueError else "cannot be read as one"
        raise BookError(f"{path} is not an archive of results: it {said}.") from error
    try:
        manifest = json.loads(text)
        found = faults(manifest, SCHEMA)
    except (ValueError, RecursionError) as error:
        raise BookError(
            f"{path} is not an archive of results: its {MANIFEST} is not JSON."
        ) from error
    raise_if_any(f"{path}, {MANIFEST}: {fault.clause}." for fault in found)
    items = tuple(Item(**item) for item in manifest.pop("items"))
    whose = [(x.kind, x.name if x.kind == "chapter" else x.fingerprint) for x in items]
    twice = [name for (_, name), count in Counter(whose).items() if count > 1]
    raise_if_any(f"{path}, {MANIFEST}: {name} is listed twice." for name in twice)
    if names != {MANIFEST, *(f"{item.key}{RESULT}" for item in items)}:
        raise BookError(f"{path} does not hold exactly the files that its manifest names.")
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


def _made(origin: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the manifest says of where a result was made."""
    return {name: origin[name] for name in SAID if origin.get(name) is not None}


def _item(stored: Stored, fingerprint: str) -> tuple[Item, bytes]:
    """Return the entry of a result in the manifest, and its bytes."""
    content = sealed(stored)
    digest = hashlib.sha256(content).hexdigest()
    made = _made(stored.origin)
    return Item(stored.key, stored.kind, stored.name, fingerprint, digest, made), content
