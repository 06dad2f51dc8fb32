"""Archive of a published run: numbers and arrays in one zip file, and nothing that is shown.

It holds the result of each long computation that pages ask for, by a fingerprint of what was
computed, and what each chapter measured. Pages are executed by the code where they are read.
"""

import json
import re
import stat
import struct
import tokenize
import zipfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bookbuild.errors import BookError, raise_if_any
from bookbuild.reporting.provenance import commit
from bookbuild.schema import faults
from bookbuild.settings import BuildSettings
from bookbuild.source.chapters import Chapter

from .code.definitions import sha256_of
from .contents import numbers_of
from .executed import ExecutedChapter
from .keys import chapter_fingerprint, chapter_key
from .machine import machine_name
from .store import UNREADABLE, DamagedError, Store, reason
from .values import STRUCTURE, from_files, to_files

NAME = "results.zip"
MANIFEST = "manifest.json"
SCHEMA = Path(__file__).with_name("archive.schema.json")
RESULTS, CHAPTERS = "results", "chapters"  # the folders of an archive
MEMBER = re.compile(
    rf"({RESULTS}/[0-9a-f]{{32}}|{CHAPTERS}(?:/\w{{1,60}}){{1,3}})/(\d{{1,6}}\.npy|{re.escape(STRUCTURE)})",
    re.ASCII,
)
WORDS = re.compile(r"(?:[\w .,()/^-]|\{\w{1,4}\}){1,80}", re.ASCII)  # names within a result
MOST_BYTES = 2**31  # of an archive
MOST_MEMBER = 2**27  # bytes of an array, unpacked; the largest of this book has 2**25
MOST_DIRECTORY = 2**23  # bytes of the list of members
PACKED_AS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
END = struct.Struct("<4s4H2LH")  # how a zip file ends: its sixth field is the size of its list
HOSTILE = (*UNREADABLE, SyntaxError, tokenize.TokenError)  # what parsers raise of such bytes


@dataclass(frozen=True)
class Made:
    """What an archive says of a chapter: its key, its code's fingerprint, and its results'."""

    key: str
    fingerprint: str
    results: list[str]


@dataclass(frozen=True)
class Archive:
    """A published run, opened. What it says of itself is compared, and decides nothing."""

    path: Path
    profile: str  # the sizes
    device: str  # cpu or cuda
    seed: int  # the first one
    commit: str  # of the code
    machine: str  # the system and the processor
    threads: int  # of each chapter
    chapters: Mapping[str, Made]  # of what code they are, by name
    members: Mapping[str, Sequence[str]]  # the files of each result, by its folder in the archive

    @property
    def results(self) -> set[str]:
        """The fingerprints of the results, each of a chapter that asked for it."""
        return {
            fingerprint for chapter in self.chapters.values() for fingerprint in chapter.results
        }

    def result(self, fingerprint: str) -> Any:
        """Return the result of a fingerprint; KeyError without, DamagedError for a bad one."""
        return self._value(f"{RESULTS}/{fingerprint}")

    def numbers(self, chapter: str) -> Any:
        """Return what a chapter measured, as `numbers_of`; errors like those of `result`."""
        return self._value(f"{CHAPTERS}/{chapter}")

    def check(self) -> None:
        """Read everything; raise BookError with a sentence if a member is damaged."""
        for folder in self.members:
            try:
                self._value(folder)
            except DamagedError as damage:
                raise BookError(f"{self.path} is refused: its {folder} {damage}.") from damage

    def _value(self, folder: str) -> Any:
        names = self.members[folder]
        try:
            with zipfile.ZipFile(self.path) as file:
                return _plain(from_files({name: _read(file, f"{folder}/{name}") for name in names}))
        except HOSTILE as error:
            raise DamagedError("is not the result of a computation") from error


def write_archive(path: Path, chapters: Sequence[Chapter], settings: BuildSettings) -> Archive:
    """Write what every executed chapter asked for and measured; its SHA-256 is written beside it.

    Raises BookError where a chapter has not been executed.
    """
    store = Store(settings.results)
    stored = [(chapter, store.get(chapter_key(chapter, settings))[0]) for chapter in chapters]
    raise_if_any(
        f"Chapter {chapter.name} has not been executed: run python -m bookbuild build."
        for chapter, of_chapter in stored
        if of_chapter is None
    )
    executed = [(chapter, of_chapter) for chapter, of_chapter in stored if of_chapter]
    keys: defaultdict[str, set[str]] = defaultdict(set)
    for _, of_chapter in executed:
        for task, of_task in of_chapter.origin["asked"].items():
            keys[task].update(of_task)
    # trainings of one code that start in several ways have several keys; short ones are not kept
    kept = {task: store.get(min(of_task))[0] for task, of_task in keys.items() if len(of_task) == 1}
    folders = {f"{RESULTS}/{task}": result.files for task, result in kept.items() if result}
    about: dict[str, Any] = {}
    for chapter, of_chapter in executed:
        folders[f"{CHAPTERS}/{chapter.name}"] = to_files(numbers_of(ExecutedChapter.of(of_chapter)))
        results = [task for task in of_chapter.origin["asked"] if kept.get(task)]
        fingerprint = chapter_fingerprint(chapter, settings)
        about[chapter.name] = asdict(Made(of_chapter.key, fingerprint, results))
    manifest = {
        **settings.parameters,
        "machine": machine_name(),
        "threads": settings.threads_each,
        "commit": commit(settings.root),
        "chapters": about,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(MANIFEST, json.dumps(manifest, indent=1))
        for folder, files in sorted(folders.items()):
            _plain(from_files(files))  # nothing is published that nobody would read
            for name, content in files.items():
                file.writestr(f"{folder}/{name}", content)
    digest = f"{sha256_of(path)}  {path.name}\n"
    path.with_name(f"{path.name}.sha256").write_text(digest, encoding="utf-8")
    return open_archive(path)


def open_archive(path: Path) -> Archive:
    """Return the archive in a file, of which nothing is unpacked but the manifest.

    Raises BookError with a sentence for a file that is none: one with a member that no archive of
    this book has, with one twice, or with a link; or with a manifest of another form.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise BookError(f"{path} cannot be read: {reason(error)}.") from error
    return _opened(path, status.st_mtime_ns)


@cache
def _opened(path: Path, _: int) -> Archive:
    try:
        _check_end(path)
        with zipfile.ZipFile(path) as file:
            members = _members(file)
            manifest = json.loads(_read(file, MANIFEST))
        clauses = [fault.clause for fault in faults(manifest, SCHEMA)]
    except HOSTILE as error:
        said = str(error) if type(error) is ValueError else "cannot be read as one"
        raise BookError(f"{path} is not an archive of results: it {said}.") from error
    raise_if_any(f"{path}, {MANIFEST}: {clause}." for clause in clauses)
    chapters = {name: Made(**fields) for name, fields in manifest.pop("chapters").items()}
    archive = Archive(path, chapters=chapters, members=members, **manifest)
    named = {f"{CHAPTERS}/{name}" for name in chapters} | {
        f"{RESULTS}/{x}" for x in archive.results
    }
    if named != members.keys():
        raise BookError(f"{path} does not hold exactly the results that its manifest names.")
    return archive


def _check_end(path: Path) -> None:
    """Raise ValueError for a file whose list of members would fill the memory."""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - END.size))
        end = stream.read()
    if size > MOST_BYTES or len(end) < END.size:
        raise ValueError(f"has {size} bytes")
    mark, *_, listed, _, remark = END.unpack(end)
    if mark != b"PK\5\6" or listed > MOST_DIRECTORY or remark:
        raise ValueError("ends in another way than one that this book has written")


def _members(file: zipfile.ZipFile) -> dict[str, list[str]]:
    """Return the files of each folder; raise ValueError for a member that does not belong there."""
    names: set[str] = set()
    folders: dict[str, list[str]] = {}
    for info in file.infolist():
        link = stat.S_ISLNK(info.external_attr >> 16)
        match = MEMBER.fullmatch(info.filename)
        if not (match or info.filename == MANIFEST) or info.filename in names or link:
            raise ValueError(f"holds {info.filename[:60]!a}, which does not belong there")
        if info.compress_type not in PACKED_AS or info.flag_bits & 1:
            raise ValueError("is compressed or encrypted in a way that this book does not use")
        names.add(info.filename)
        if match:
            folders.setdefault(match[1], []).append(match[2])
    return folders


def _read(file: zipfile.ZipFile, name: str) -> bytes:
    """Return the content of a member, whatever size it says it has."""
    with file.open(name) as stream:
        content = stream.read(MOST_MEMBER + 1)
    if len(content) > MOST_MEMBER:
        raise ValueError(f"holds a file of more than {MOST_MEMBER} bytes")
    return content


def _plain(value: Any) -> Any:
    """Return a result of numbers and plain names; raise ValueError for another."""
    if isinstance(value, dict) and all(map(WORDS.fullmatch, value)):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    named = isinstance(value, str) and WORDS.fullmatch(value)
    if kind in tuple("biufc") or named or value is None or isinstance(value, bool | int | float):
        return value
    raise ValueError("holds something that is no number")
