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

from .executed import ExecutedChapter, numbers_of
from .keys import chapter_fingerprint, chapter_key, sha256_of
from .machine import machine_name
from .store import UNREADABLE, Store, reason
from .values import STRUCTURE, check_bytes, from_files, to_files

NAME = "results.zip"
MANIFEST = "manifest.json"
SCHEMA = Path(__file__).with_name("archive.schema.json")
RESULTS, CHAPTERS = "results", "chapters"  # the folders of an archive
MEMBER = re.compile(
    rf"({RESULTS}/[0-9a-f]{{32}}|{CHAPTERS}(?:/\w{{1,60}}){{1,3}})/(\d{{1,6}}\.npy|{re.escape(STRUCTURE)})",
    re.ASCII,
)
WORDS = re.compile(r"(?:[\w .,()/^-]|\{\w{1,4}\}){1,200}", re.ASCII)  # names within a result
MOST_BYTES = 2**30  # of an archive, packed and unpacked; this book's has 2**27
MOST_RESULT = 2**26  # of one result, unpacked; the largest of this book has 2**23
MOST_JSON = 2**24  # of all files that are no arrays, unpacked; this book has less than 2**20
MOST_TEXT = 2**20  # of one of them; the longest of this book has 2**17
MOST_DIRECTORY = 2**23  # of the list of members
MOST_FAULTS = 10  # that are told
PACKED_AS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
END = struct.Struct("<20s4s4H2LH")  # how a zip file ends: the seventh field is the size of its list
HOSTILE = (*UNREADABLE, SyntaxError, tokenize.TokenError)  # what parsers raise of such bytes
Files = dict[str, bytes]


@dataclass(frozen=True)
class ChapterEntry:
    """What an archive says of a chapter: the fingerprint of its code, and those of its results."""

    fingerprint: str
    results: list[str]


@dataclass(frozen=True)
class Archive:
    """A published run, opened. What it says of itself is compared or told, and decides nothing."""

    path: Path
    profile: str  # the sizes
    device: str  # cpu or cuda
    seed: int  # the first one
    commit: str  # of the code
    machine: str  # the system and the processor
    chapters: Mapping[str, ChapterEntry]  # of what code they are, by name
    members: Mapping[str, Sequence[str]]  # the files of each result, by its folder in the archive

    @property
    def results(self) -> set[str]:
        """The fingerprints of the results, each of a chapter that asked for it."""
        return {
            fingerprint for chapter in self.chapters.values() for fingerprint in chapter.results
        }

    def files(self, folder: str) -> Files:
        """Return the files in a folder, which a build lends as they are; BookError for bad ones."""
        with zipfile.ZipFile(self.path) as file:
            return self._files(file, folder)

    def check(self) -> None:
        """Read everything once; raise BookError with the first faults and their number."""
        problems: list[str] = []
        with zipfile.ZipFile(self.path) as file:
            for folder in self.members:
                try:
                    self._files(file, folder)
                except BookError as error:
                    problems += error.problems
        if len(problems) > MOST_FAULTS:
            problems[MOST_FAULTS:] = [f"There are {len(problems)} such faults."]
        raise_if_any(problems)

    def _files(self, file: zipfile.ZipFile, folder: str) -> Files:
        try:
            files = {name: file.read(f"{folder}/{name}") for name in self.members[folder]}
            _check_words(check_bytes(files))
        except HOSTILE as error:
            raise BookError(
                f"{self.path} is refused: its {folder} is not the result of a computation."
            ) from error
        return files


def write_archive(path: Path, chapters: Sequence[Chapter], settings: BuildSettings) -> Archive:
    """Write what every chapter asked for and measured, and its SHA-256 beside it; or BookError."""
    store = Store(settings.results)
    stored = [(chapter, store.get(chapter_key(chapter, settings))[0]) for chapter in chapters]
    raise_if_any(
        f"Chapter {chapter.name} has not been executed: run make reproduce "
        f"PROFILE={settings.profile}."
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
    values = {f"{RESULTS}/{task}": from_files(x.files) for task, x in kept.items() if x}
    about: dict[str, Any] = {}
    for chapter, of_chapter in executed:
        entry = ExecutedChapter.of(of_chapter)
        values[f"{CHAPTERS}/{chapter.name}"] = numbers_of(entry, set(chapter.timings))
        results = [task for task in of_chapter.origin["asked"] if kept.get(task)]
        about[chapter.name] = asdict(ChapterEntry(chapter_fingerprint(chapter, settings), results))
    manifest = {
        **settings.parameters,
        "machine": machine_name(),
        "commit": commit(settings.root),
        "chapters": about,
    }
    try:
        _check_words(values)  # nothing is published that nobody would read
    except ValueError as error:
        raise BookError(f"The results cannot be published: {error}.") from error
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(MANIFEST, _written(manifest))
        for folder, value in sorted(values.items()):
            for name, content in to_files(value).items():
                file.writestr(f"{folder}/{name}", content)
    digest = f"{sha256_of(path)}  {path.name}\n"
    path.with_name(f"{path.name}.sha256").write_text(digest, encoding="utf-8")
    return open_archive(path)


def open_archive(path: Path) -> Archive:
    """Return the archive in a file, of which nothing is unpacked but the manifest.

    Raises BookError with a sentence for a file that is none: one with a member that no archive of
    this book has, with one twice, or with a link; one that is too large; or with a manifest of
    another form.
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
            content = file.read(MANIFEST)
        manifest = json.loads(content)
        if _written(manifest) != content:
            raise ValueError(f"has a {MANIFEST} with another spelling or a field twice")
        clauses = [fault.clause for fault in faults(manifest, SCHEMA, most=MOST_FAULTS)]
    except HOSTILE as error:
        said = str(error) if type(error) is ValueError else "cannot be read as one"
        raise BookError(f"{path} is not an archive of results: it {said}.") from error
    raise_if_any(f"{path}, {MANIFEST}: {clause}." for clause in clauses)
    chapters = {name: ChapterEntry(**fields) for name, fields in manifest.pop("chapters").items()}
    archive = Archive(path, chapters=chapters, members=members, **manifest)
    named = {f"{CHAPTERS}/{name}" for name in chapters} | {
        f"{RESULTS}/{x}" for x in archive.results
    }
    if named != members.keys():
        raise BookError(f"{path} does not hold exactly the results that its manifest names.")
    return archive


def _written(manifest: Any) -> bytes:
    return json.dumps(manifest, indent=1).encode()


def _check_end(path: Path) -> None:
    """Raise ValueError for a file whose list of members would fill the memory."""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - END.size))
        end = stream.read()
    if size > MOST_BYTES or len(end) < END.size:
        raise ValueError(f"has {size} bytes")
    before, mark, *_, listed, _, remark = END.unpack(end)
    large = before.startswith(b"PK\6\7")  # a second list, for files that are larger than ours
    if mark != b"PK\5\6" or listed > MOST_DIRECTORY or remark or large:
        raise ValueError("ends in another way than one that this book has written")


def _members(file: zipfile.ZipFile) -> dict[str, list[str]]:
    """Return the files of each folder; raise ValueError for a member that does not belong there.

    Of no member more is read than the size that is listed, so their sums bound what is unpacked.
    """
    names: set[str] = set()
    folders: dict[str, list[str]] = {}
    sizes: defaultdict[str, int] = defaultdict(int)
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
            sizes[match[1]] += info.file_size
        if not info.filename.endswith(".npy"):
            sizes[""] += info.file_size
            if info.file_size > MOST_TEXT:
                raise ValueError(f"holds a text of more than {MOST_TEXT} bytes")
    texts, results = sizes.pop("", 0), sizes.values()
    if texts > MOST_JSON or max(results, default=0) > MOST_RESULT or sum(results) > MOST_BYTES:
        raise ValueError("unpacks to more bytes than the results of a book have")
    return folders


def _check_words(value: Any) -> None:
    """Raise ValueError for a result with a text that is no plain name."""
    if isinstance(value, str) and not WORDS.fullmatch(value):
        raise ValueError(f"{value[:60]!a} is longer than a name, or has other letters")
    if isinstance(value, dict | list):
        for item in (*value, *(value.values() if isinstance(value, dict) else ())):
            _check_words(item)
