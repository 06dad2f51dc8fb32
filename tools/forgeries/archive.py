"""An archive of results taken apart, changed and sealed again, as a forger would do it."""

import hashlib
import json
import zipfile
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bookbuild.results.archive import MANIFEST, Item, open_archive
from bookbuild.results.store import SUFFIX, Stored, opened, sealed


def members(path: Path) -> dict[str, bytes]:
    """Return the files of an archive."""
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def rewrite(path: Path, files: dict[str, bytes]) -> None:
    """Write an archive of these files, in the place of another."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name, content)


def manifest(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the manifest of an archive."""
    files = members(path)
    document = json.loads(files[MANIFEST])
    change(document)
    rewrite(path, files | {MANIFEST: json.dumps(document).encode()})


def find(path: Path, name: str) -> Item:
    """Return the item of a chapter, a training's function or a file of stored runs."""
    return next(item for item in open_archive(path).items if item.name == name)


def reseal(path: Path, name: str, change: Callable[[Stored], Stored]) -> None:
    """Change a result, seal it again, and have the manifest name it."""
    item = find(path, name)
    files = members(path)
    content = sealed(change(opened(files[f"{item.key}{SUFFIX}"], item.key)))
    digest = hashlib.sha256(content).hexdigest()
    named = files[MANIFEST].replace(item.sha256.encode(), digest.encode())
    rewrite(path, files | {f"{item.key}{SUFFIX}": content, MANIFEST: named})


def replaced(old: str, new: str, *, among: str = "") -> Callable[[Stored], Stored]:
    """Return a change of one text into another in the files whose names contain `among`.

    The change raises ValueError where nothing is changed: such a forgery would be none.
    """

    def change(stored: Stored) -> Stored:
        files = {
            name: content.replace(old.encode(), new.encode()) if among in name else content
            for name, content in stored.files.items()
        }
        if files == stored.files:
            raise ValueError(f"{old!r} is nowhere in {stored.name}")
        return replace(stored, files=files)

    return change


def outputs(change: Callable[[list[dict[str, Any]]], None]) -> Callable[[Stored], Stored]:
    """Return a change of the outputs of a notebook's last cell."""

    def changed(stored: Stored) -> Stored:
        notebook = json.loads(stored.files["notebook.ipynb"])
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        change(cells[-1]["outputs"])
        return replace(
            stored, files={**stored.files, "notebook.ipynb": json.dumps(notebook).encode()}
        )

    return changed


def put_bytes(path: Path, key: str, body: bytes) -> None:
    """Put bytes in the place of a result, under digests that are right."""
    content = hashlib.sha256(body).hexdigest().encode() + b"\n" + body
    digest = hashlib.sha256(content).hexdigest()

    def change(document: dict[str, Any]) -> None:
        next(item for item in document["items"] if item["key"] == key)["sha256"] = digest

    manifest(path, change)
    rewrite(path, members(path) | {f"{key}{SUFFIX}": content})


def add(path: Path, stored: Stored) -> None:
    """Add a result to an archive."""
    content = sealed(stored)
    digest = hashlib.sha256(content).hexdigest()
    item = Item(stored.key, stored.kind, stored.name, "e" * 32, digest)
    manifest(path, lambda document: document["items"].append(asdict(item)))
    rewrite(path, members(path) | {f"{stored.key}{SUFFIX}": content})
