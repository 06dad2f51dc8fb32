"""Keys of results; a key changes whenever something changes that may have made the result.

Code depends on the modules of src that it imports, whatever it uses of them. The sources are read
and not run. Imports are followed wherever they stand, in functions as well, together with the
`__init__` of each package on the way. A module that is imported by a computed name is not found.
The digest of a module leaves out its comments, docstrings and layout.
"""

import ast
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

from bookbuild.reporting.provenance import versions
from bookbuild.settings import BuildSettings
from bookbuild.source.book import read_book
from bookbuild.source.chapters import Chapter, tags

from .machine import gpu
from .snapshot import FOLDER, OURS, sources

# Where a result is kept or computed never changes it: modules of the package `running`.
KEEPING = ("cache", "executors", "memo", "progress", "sweep")
# What draws or reports a number never changes it; a book names packages of its own.
SHOWING = ("matplotlib", OURS)
RENDERING = ("ipykernel", "myst-nb")  # a chapter's outputs depend on them without an import
PROVIDERS = cache(packages_distributions)
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

Import = tuple[int, str]  # the number of dots before a name, and the name


@dataclass(frozen=True)
class Dependencies:
    """What some code depends on besides itself."""

    modules: Mapping[str, str]  # digests of their code, by name
    files: tuple[Path, ...]  # that lie beside the modules and may be read, such as a style sheet
    packages: tuple[str, ...]  # the outermost ones from elsewhere

    @property
    def code(self) -> str:
        """One digest of all modules and files, whatever the versions of packages."""
        files = sorted(map(sha256_of, self.files))
        return hashlib.sha256(
            json.dumps([sorted(self.modules.items()), files]).encode()
        ).hexdigest()


def reached_by_cells(cells: Iterable[str], src: Path, *, shown: bool = True) -> Dependencies:
    """Return what the cells of a chapter import, all of it or only what their numbers need."""
    imported = (name for cell in cells for _, name in read(_plain(cell))[1])
    return _reached(imported, src, shown=shown)


def reached_by(modules: Iterable[str], src: Path) -> Dependencies:
    """Return what modules import, and these, without what only draws or reports."""
    return _reached(modules, src, shown=False)


READ_ONCE = cache(reached_by)  # a process executes the sources as they were when it began


@cache
def read(content: bytes) -> tuple[str, tuple[Import, ...]]:
    """Return a digest of some code, and what it imports: modules, or attributes of such.

    Code that cannot be parsed imports nothing and counts by its bytes.
    """
    try:
        tree = ast.parse(content)  # bytes, for a comment may declare their encoding
    except (SyntaxError, ValueError):
        return hashlib.sha256(content).hexdigest(), ()
    imports = tuple(dict.fromkeys(_imports(tree)))
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    # unlike `ast.dump`, the text is the same in different versions of Python
    text = ast.unparse(tree).encode(errors="surrogatepass")
    return hashlib.sha256(text).hexdigest(), imports


def sha256_of(path: Path) -> str:
    """Return the checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _plain(cell: str) -> bytes:
    """Return a cell without what only a notebook understands."""
    return TransformerManager().transform_cell(cell).encode(errors="surrogatepass")


def _imports(tree: ast.AST) -> Iterator[Import]:
    """Yield what import statements name, wherever they stand."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = f"{node.module}." if node.module else ""
            yield from ((node.level, module + alias.name) for alias in node.names)


def _reached(names: Iterable[str], src: Path, *, shown: bool) -> Dependencies:
    """Return the modules behind some names, and all that these import, but what changes nothing."""
    book = read_book(src.parent)
    without = [f"{book.running}.{name}" for name in KEEPING if book.running]
    without += () if shown else (*SHOWING, *book.drawing)
    modules: dict[str, str] = {}
    folders: set[Path] = set()
    packages: set[str] = set()
    waiting, known = [*names], {*without}
    while waiting:
        name = waiting.pop()
        package = name.rpartition(".")[0]
        if name in known or any(name.startswith(f"{each}.") for each in without):
            continue
        known.add(name)
        path = _find(name, src)
        if path is not None:
            modules[name], imports = read(path.read_bytes())
            folders.add(path.parent)
            inside = name if path.name == "__init__.py" else package
            waiting += (_absolute(*each, inside) for each in imports)
        elif not package and not (src / name).is_dir() and name not in sys.stdlib_module_names:
            packages.add(name)
        if package:
            waiting.append(package)
    beside = (path for folder in folders - {src} for path in folder.iterdir() if path.is_file())
    files = tuple(sorted(path for path in beside if path.suffix not in (".py", ".pyc")))
    return Dependencies(modules, files, tuple(sorted(packages)))


def _find(name: str, src: Path) -> Path | None:
    """Return the file of a module or of the `__init__` of a package, if it lies in src."""
    outermost, *inner = name.split(".")
    place = src / outermost
    if outermost == OURS and not place.is_dir():
        place = FOLDER
    place = place.joinpath(*inner)
    files = (place / "__init__.py", place.with_name(f"{place.name}.py"))
    return next((file for file in files if file.is_file()), None)


def _absolute(dots: int, name: str, package: str) -> str:
    above = package.split(".")[: package.count(".") + 2 - dots] if dots else []
    return ".".join([*above, name])


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
    code = {"cells": [read(_plain(cell))[0] for cell in cells], "code": reached.code}
    return digest(code | {"data": _data(chapter, settings)})


def task_key(task: Mapping[str, Any], device: str, src: Path) -> str:
    """Return the key of what a function of src makes of a configuration on a device."""
    reached, configuration = _reached_by_task(task, src), task["configuration"]
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
    return digest(named | {"code": _reached_by_task(task, src).code})


def _anywhere(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _anywhere(item) for name, item in value.items() if name != "device"}
    return [_anywhere(item) for item in value] if isinstance(value, list) else value


def code_of(module: str, function: str, src: Path) -> str:
    """Return a digest of a function of src and of all modules that its own one reaches."""
    return digest({"function": [module, function], "code": READ_ONCE((module,), src).code})


def digest(ingredients: Mapping[str, Any]) -> str:
    """Return the key that stands for these ingredients."""
    text = json.dumps(ingredients, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _of_gpu(device: str) -> dict[str, str]:
    return {"gpu": gpu()} if device == "cuda" else {}


def _reached_by_task(task: Mapping[str, Any], src: Path) -> Dependencies:
    """Return what the function of a task and the classes of its configuration depend on."""
    return READ_ONCE((task["module"], *(module for module, _ in task.get("classes", ()))), src)


def _data(chapter: Chapter, settings: BuildSettings) -> dict[str, str]:
    return {file: sha256_of(sources(settings).parent / file) for file in chapter.data}


def _versions(reached: Dependencies) -> dict[str, str]:
    """Return the versions of the distributions that provide the packages that were reached."""
    provided = (PROVIDERS().get(package, []) for package in reached.packages)
    return versions(tuple(sorted({name for names in provided for name in names})))
