"""Give a result a key that changes when, and only when, something changes that made it."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

from bookbuild.reporting.provenance import versions
from bookbuild.settings import Settings
from bookbuild.source.chapters import Chapter, tags

from .imports import find_imports
from .machine import gpu
from .parsed import code_digest
from .snapshot import SOURCES, sources

RENDERING = ("ipykernel", "myst-nb")  # a chapter's outputs depend on them without an import


def chapter_key(chapter: Chapter, settings: Settings) -> str:
    """Return the key of a chapter's outputs; its prose is not part of it."""
    src, placed = sources(settings), chapter.placed(settings)
    code, packages = fingerprint((cell.source for cell in chapter.code), src)
    data = (path.relative_to(settings.root) for path in chapter.data)
    return digest(
        {
            "chapter": chapter.name,
            "cells": [[cell.source, tags(cell)] for cell in chapter.code],
            "parameters": placed.parameters,
            "files": code | {path.as_posix(): _sha256(src.parent / path) for path in data},
            "versions": packages | versions(RENDERING),
            **_of_gpu(placed.device),
        }
    )


def chapter_edition(chapter: Chapter, settings: Settings) -> str:
    """Return what changes when a chapter's code or data do, on any device, for any seed."""
    src = sources(settings)
    code, _ = fingerprint((cell.source for cell in chapter.code), src)
    data = (path.relative_to(settings.root) for path in chapter.data)
    return digest(
        {
            "cells": [cell.source for cell in chapter.code],
            "files": code | {path.as_posix(): _sha256(src.parent / path) for path in data},
        }
    )


def task_key(task: Mapping[str, Any], device: str, src: Path) -> str:
    """Return the key of what a function of src makes of a configuration on a device.

    A process reads the sources of a module once: they are those that it executes.
    """
    code, packages = _fingerprint_of_module(task["module"], src)
    made = {"task": task, "device": device, "files": code, "versions": packages}
    return digest(made | _of_gpu(device))


def _of_gpu(device: str) -> dict[str, str]:
    """Return which GPU computes, if one does; on a processor keys say nothing of it."""
    return {"gpu": gpu()} if device == "cuda" else {}


def task_edition(task: Mapping[str, Any], src: Path) -> str:
    """Return what changes when a task or the code of its module does, whatever the versions."""
    code, _ = _fingerprint_of_module(task["module"], src)
    return digest({"task": task, "files": code})


@cache
def _fingerprint_of_module(module: str, src: Path) -> tuple[dict[str, str], dict[str, str]]:
    return fingerprint([f"import {module}"], src)


def fingerprint(code: Iterable[str], src: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return what stands for the sources some code depends on, and versions of its packages.

    A module's part is a digest of its code, so that a comment or a docstring changes no key, unless
    the code shows sources: then every byte counts.
    """
    imports = find_imports(code, src)
    files = {f"{SOURCES}/{path.relative_to(src).as_posix()}": path for path in imports.files}
    parts = {
        name: _sha256(path)
        if imports.shown or path.suffix != ".py"
        else code_digest(path.read_bytes())
        for name, path in files.items()
    }
    return parts | dict(imports.names), versions(_distributions(imports.packages))


def digest(ingredients: Mapping[str, Any]) -> str:
    """Return the key that stands for these ingredients."""
    text = json.dumps(ingredients, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@cache
def _providers() -> dict[str, list[str]]:
    return dict(packages_distributions())


def _distributions(packages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the distributions that provide the packages."""
    return tuple(sorted({name for package in packages for name in _providers().get(package, [])}))


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
