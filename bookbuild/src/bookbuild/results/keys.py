"""Keys of results; a key changes whenever something changes that may have made the result."""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

from bookbuild.reporting.provenance import versions
from bookbuild.settings import BuildSettings
from bookbuild.source.cells import tags
from bookbuild.source.chapters import Chapter

from .code import Dependencies, code_of_cells, reached_by, reached_by_cells, sha256_of
from .machine import gpu
from .snapshot import sources

_providers = cache(packages_distributions)
_read_once = cache(reached_by)
RENDERING = ("ipykernel", "myst-nb")  # a chapter's outputs depend on them without an import


def chapter_key(chapter: Chapter, settings: BuildSettings) -> str:
    """Return the key of a chapter's outputs; its prose is not part of it."""
    placed = chapter.placed(settings)
    reached = reached_by_cells((cell.source for cell in chapter.code), sources(settings))
    return digest(
        {
            "chapter": chapter.name,
            "cells": [[cell.source, tags(cell)] for cell in chapter.code],
            "parameters": placed.parameters,
            "code": reached.code,
            "data": _data(chapter, settings),
            "versions": _versions(reached) | versions(RENDERING),
            **_of_gpu(placed.device),
        }
    )


def chapter_fingerprint(chapter: Chapter, settings: BuildSettings) -> str:
    """Return what changes when the code or the data do that a chapter's numbers depend on.

    Neither the device nor the seed counts, nor how a module draws or reports something.
    """
    cells = [cell.source for cell in chapter.code]
    reached = reached_by_cells(cells, sources(settings), shown=False)
    code = {"cells": code_of_cells(cells), "code": reached.code}
    return digest(code | {"data": _data(chapter, settings)})


def task_key(task: Mapping[str, Any], device: str, src: Path) -> str:
    """Return the key of what a function of src makes of a configuration on a device.

    A process reads the sources of a module once: they are those that it executes.
    """
    reached, configuration = _reached(task, src), task["configuration"]
    conditions = task.get("conditions")
    return digest(
        {
            "function": [task["module"], task["function"]],
            "configuration": configuration | conditions if conditions else configuration,
            "device": device,
            "code": reached.code,
            "versions": _versions(reached),
            **_of_gpu(device),
        }
    )


def task_fingerprint(task: Mapping[str, Any], src: Path) -> str:
    """Return what changes when a task or its code does, whatever the versions and the device."""
    named = {name: _anywhere(task[name]) for name in ("module", "function", "configuration")}
    return digest(named | {"code": _reached(task, src).code})


def _anywhere(value: Any) -> Any:
    """Return a configuration without the device that it names."""
    if isinstance(value, dict):
        return {name: _anywhere(item) for name, item in value.items() if name != "device"}
    return [_anywhere(item) for item in value] if isinstance(value, list) else value


def code_of(module: str, function: str, src: Path) -> str:
    """Return a digest of a function of src and of all modules that its own one reaches."""
    return digest({"function": [module, function], "code": _read_once((module,), src).code})


def digest(ingredients: Mapping[str, Any]) -> str:
    """Return the key that stands for these ingredients."""
    text = json.dumps(ingredients, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _of_gpu(device: str) -> dict[str, str]:
    """Return which GPU computes, if one does; on a processor keys say nothing of it."""
    return {"gpu": gpu()} if device == "cuda" else {}


def _reached(task: Mapping[str, Any], src: Path) -> Dependencies:
    """Return what the function of a task and the classes of its configuration depend on."""
    return _read_once((task["module"], *(module for module, _ in task.get("classes", ()))), src)


def _data(chapter: Chapter, settings: BuildSettings) -> dict[str, str]:
    """Return checksums of the data files of a chapter, as this build reads them."""
    return {file: sha256_of(sources(settings).parent / file) for file in chapter.data}


def _versions(reached: Dependencies) -> dict[str, str]:
    """Return the versions of the distributions that provide the packages that were reached."""
    provided = (_providers().get(package, []) for package in reached.packages)
    return versions(tuple(sorted({name for names in provided for name in names})))
