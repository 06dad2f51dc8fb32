"""The store of results: one file each, sealed with a checksum and written whole or not at all."""

import errno
import hashlib
import io
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import psutil

from bookbuild.errors import BookError

# of a training the last state is kept, of one that was interrupted a checkpoint
Kind = Literal["chapter", "sweep", "training", "checkpoint", "published"]

SUFFIX = ".result"
OTHERS = "set-aside"
# what zipfile and json raise of bytes that nobody has checked: RecursionError of deep JSON and
# NotImplementedError of an unknown compression are kinds of RuntimeError
UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, ArithmeticError),
    *(LookupError, RuntimeError, TypeError, ValueError),
)


class DamagedError(Exception):
    """A file is not what was stored under this key."""


@dataclass(frozen=True)
class Stored:
    """A result: its key, what it is and where it comes from, and named byte strings."""

    key: str
    kind: Kind
    name: str
    date: str
    origin: Mapping[str, Any]
    files: Mapping[str, bytes]


class Store:
    """A folder of results. A reader sees a result as it was written, or none at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, key: str) -> Path:
        """Return where the result of a key lies, if there is one."""
        return self.folder / f"{key}{SUFFIX}"

    def put(
        self, key: str, kind: Kind, name: str, origin: Mapping[str, Any], files: Mapping[str, bytes]
    ) -> Stored:
        """Write a result under its key; raise BookError with the reason where that fails."""
        date = datetime.now(UTC).isoformat(timespec="seconds")
        stored = Stored(key, kind, name, date, dict(origin), dict(files))
        content = sealed(stored)
        try:
            write_whole(self.path(key), content)
        except OSError as error:
            size = f"; it takes {len(content):,} bytes" if error.errno == errno.ENOSPC else ""
            raise BookError(
                f"The result of {name} could not be kept: {reason(error)}{size}."
            ) from error
        return stored

    def get(self, key: str) -> tuple[Stored | None, str]:
        """Return the sound result of a key, if there is one, and a sentence if it is damaged.

        A damaged one is set aside.
        """
        path, aside = self.path(key), self.folder / OTHERS / self.path(key).name
        try:
            return opened(path.read_bytes(), key), ""
        except FileNotFoundError:
            return None, ""
        except OSError as error:
            return None, f"Stored result {key} cannot be read ({reason(error)}): computed again."
        except DamagedError as damage:
            sentence = f"Stored result {key} {damage}"
        try:
            aside.parent.mkdir(exist_ok=True)
            os.replace(path, aside)
        except OSError as error:
            return None, f"{sentence} and stays where it is: {reason(error)}."
        return None, f"{sentence}: set aside in {OTHERS}, computed again."

    def check(self) -> None:
        """Raise BookError where nothing can be kept, before hours are spent on results."""
        try:
            self.tidy()
            write_whole(self.folder / ".check", bytes(4096))
            (self.folder / ".check").unlink()
        except OSError as error:
            raise BookError(f"No result can be kept in {self.folder}: {reason(error)}.") from error

    def listed(self) -> list[str]:
        """Return the keys of all results, damaged ones among them."""
        return sorted(path.stem for path in self.folder.glob(f"*{SUFFIX}"))

    def tidy(self) -> None:
        """Remove what writers that were killed left behind."""
        for path in self.folder.glob(".*.part"):
            owner = path.name.rpartition(".part")[0].rpartition(".")[2]
            if not (owner.isdecimal() and psutil.pid_exists(int(owner))):
                path.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a crash leaves the old one or the new one, on the disk too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    with suppress(OSError):  # systems that cannot open folders make a renaming last by themselves
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def reason(error: OSError) -> str:
    """Return what the system says was wrong, without capital."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]


def opened(content: bytes, key: str) -> Stored:
    """Return what a file holds; raise DamagedError if not every byte of it is as written."""
    digest, _, body = content.partition(b"\n")
    if digest != _digest(body):
        raise DamagedError("is damaged")
    line, _, archived = body.partition(b"\n")
    try:
        with zipfile.ZipFile(io.BytesIO(archived)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        stored = Stored(**json.loads(line), files=files)
    except UNREADABLE as error:
        raise DamagedError("is no result of this book") from error
    if stored.key != key:
        raise DamagedError("belongs to another key")
    return stored


def sealed(stored: Stored) -> bytes:
    """Return a checksum of the rest, a line with the header, and an archive of the files."""
    header = {name: value for name, value in vars(stored).items() if name != "files"}
    body = io.BytesIO()
    body.write(json.dumps(header).encode() + b"\n")
    with zipfile.ZipFile(body, "a") as archive:
        for name, content in stored.files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return _digest(body.getbuffer()) + b"\n" + body.getbuffer()


def _digest(content: bytes | memoryview) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
