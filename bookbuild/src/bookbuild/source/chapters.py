"""The table of contents and the chapters it lists."""

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import jupytext
from jupytext.myst import MystMetadataParsingError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from yaml import YAMLError

from bookbuild.errors import BookError, raise_if_any
from bookbuild.reporting.expressions import TAG, cell_of, fault, place_of, quoted_code
from bookbuild.schema import faults, load
from bookbuild.settings import BuildSettings

BOOK = "book"
SCHEMA = Path(__file__).with_name("chapter.schema.json")
PARAMETERS = ("profile", "device", "seed")
INJECTED = "injected-parameters"  # the tag of the cell that papermill writes
SHOWN = re.compile(r"^\s*show\(", re.MULTILINE)
SETTINGS = "settings"  # a parameter that a chapter may have: changes to its preset, by name
ANY, CPU = "any", "cpu"  # where a chapter computes: on the device of the build, or never on a GPU


@dataclass(frozen=True)
class Chapter:
    """A page with code: its name such as paper/02_results, its notebook, its data files by name.

    Long chapters declare about how many minutes they take, to start first in a fresh checkout.
    Those with nothing for a GPU declare the device cpu: no build computes them anywhere else.
    Measures that are times of the machine are declared as timings: no two executions agree on them.
    """

    name: str
    title: str
    notebook: NotebookNode
    data: tuple[str, ...] = ()
    minutes: float = 0
    device: str = ANY
    timings: tuple[str, ...] = ()

    def placed(self, settings: BuildSettings) -> BuildSettings:
        """Return the settings of a build, on the device that the chapter computes on."""
        return replace(settings, device=CPU) if self.device == CPU else settings

    @property
    def code(self) -> list[NotebookNode]:
        """The code cells that a build executes, in order."""
        return [cell for cell in self.executable.cells if cell.cell_type == "code"]

    @cached_property
    def executable(self) -> NotebookNode:
        """The notebook with a hidden cell before each prose cell whose expressions it evaluates."""
        cells = []
        for cell in self.notebook.cells:
            if cell.cell_type == "markdown" and (source := cell_of(cell.source)):
                hidden = new_code_cell(source, id=f"{TAG}-{cell.id}", metadata={"tags": [TAG]})
                cells.append(hidden)
            cells.append(cell)
        return NotebookNode({**self.notebook, "cells": cells})

    def quoted(self, root: Path, cell: str, number: int) -> str:
        """Return where an expression of a cell of prose stands, and what it is."""
        (prose,) = (x.source for x in self.notebook.cells if x.id == cell)
        page = (root / BOOK / f"{self.name}.md").read_text(encoding="utf-8")
        return place_of(page, prose, number)

    @property
    def takes_settings(self) -> bool:
        """Whether its settings can be changed from outside."""
        return any(
            SETTINGS in _assigned(cell.source) for cell in self.code if "parameters" in tags(cell)
        )

    @property
    def page(self) -> str:
        """The address of the page, relative to the folder of the book."""
        return f"{self.name}.html"


def read_toc(root: Path) -> dict[str, Any]:
    """Return the table of contents; raise BookError where there is no book."""
    path = root / "_toc.yml"
    if not path.is_file():
        raise BookError("There is no _toc.yml here: run this from the root of the repository.")
    toc: dict[str, Any] = load(path, path.name)
    return toc


def parts(toc: dict[str, Any]) -> tuple[str, ...]:
    """Return the folders of the book from which a table of contents lists pages, in order."""
    places = (name.split("/") for name in listed_files(toc))
    return tuple(dict.fromkeys(place[1] for place in places if place[0] == BOOK and place[2:]))


def part_titles(toc: dict[str, Any]) -> dict[str, str]:
    """Return the first caption above the pages of each folder, by the folder."""
    return {
        folder: part["caption"]
        for part in reversed(toc.get("parts", []))
        for folder in parts({"parts": [part]})
        if "caption" in part
    }


def read_chapters(root: Path, toc: dict[str, Any]) -> list[Chapter]:
    """Return the chapters that the table of contents lists; raise BookError for a missing one."""
    files = list(listed_files(toc))
    raise_if_any(
        f"_toc.yml lists {name}, but there is no {name}.md."
        for name in files
        if not (root / f"{name}.md").is_file()
    )
    pages = (root / f"{name}.md" for name in files)
    return [_read(root, path) for path in pages if is_notebook(path)]


def read_chapter(root: Path, name: str) -> Chapter:
    """Return one chapter by name, listed or not; raise BookError for an unknown one."""
    path = root / BOOK / f"{name}.md"
    if not path.is_file() or not is_notebook(path):
        names = ", ".join(chapter.name for chapter in read_chapters(root, read_toc(root)))
        raise BookError(f"There is no chapter {name!r}; the chapters are {names}.")
    return _read(root, path)


def is_notebook(path: Path) -> bool:
    """Return whether a page has code, that is a kernelspec in its front matter."""
    text = path.read_text(encoding="utf-8")
    front = text.split("\n---", 1)[0] if text.startswith("---\n") else ""
    return "\nkernelspec:" in front


def tags(cell: NotebookNode) -> list[str]:
    """Return the tags of a cell."""
    return list(cell.metadata.get("tags", []))


def figure_name(cell: NotebookNode) -> str:
    """Return the name of the figure that a cell draws, such as figure-4; empty without one."""
    names = [call.args[1] for call in _shows(cell) if len(call.args) > 1]
    return next((str(x.value) for x in names if isinstance(x, ast.Constant)), "")


def _shows(cell: NotebookNode) -> list[ast.Call]:
    """Return the calls of a cell that show a figure; a cell that is no Python has none."""
    if cell.cell_type != "code" or not SHOWN.search(cell.source):
        return []
    try:
        calls = [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call)]
    except SyntaxError:  # its execution will name the error
        return []
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "show"]


def _read(root: Path, path: Path) -> Chapter:
    """Return the chapter in a file; raise BookError for wrong parameters or missing data."""
    name = path.relative_to(root / BOOK).with_suffix("").as_posix()
    try:
        notebook = jupytext.read(path, fmt="md:myst")
    except (MystMetadataParsingError, YAMLError) as error:
        raise BookError(
            f"Chapter {name} cannot be read: {' '.join(str(error).split())}."
        ) from error
    for position, cell in enumerate(notebook.cells):
        # jupytext draws a new id at each reading; the built page must not change with it.
        cell["id"] = hashlib.sha256(f"{name} {position}".encode()).hexdigest()[:12]
    declared: dict[str, Any] = notebook.metadata.pop("bookbuild", {})
    raise_if_any(
        f"Chapter {name}, section bookbuild of its front matter: {fault.clause}."
        for fault in faults(declared, SCHEMA)
    )
    missing = [file for file in declared.get("data", ()) if not (root / file).is_file()]
    wrong = [*(f"reads {file}, which does not exist" for file in missing), *_faults(notebook)]
    page = path.read_text(encoding="utf-8")
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    wrong += [
        f"has no expression in {place_of(page, text, number)} ({why})"
        for text in texts
        for number, code in enumerate(quoted_code(text), start=1)
        if (why := fault(code))
    ]
    raise_if_any(f"Chapter {name} {clause}." for clause in wrong)
    parts: dict[str, Any] = {
        key: tuple(x) if isinstance(x, list) else x for key, x in declared.items()
    }
    return Chapter(name, _title(notebook, name), notebook, **parts)


def _faults(notebook: NotebookNode) -> Iterator[str]:
    """Yield a clause for each fault of the parameters, and of figures.

    A figure has a name, a caption, and a text for who cannot see it. The finished page is checked
    too, but by then its chapters have been executed.
    """
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    parameters = [cell for cell in cells if "parameters" in tags(cell)]
    if len(parameters) != 1:
        yield f"has {len(parameters)} cells tagged parameters; it must have exactly one"
    for cell in parameters[:1]:
        try:
            names = _assigned(cell.source)
        except SyntaxError as error:
            yield f"has a cell of parameters that is no Python: {error}"
            continue
        unknown = sorted(names.difference(PARAMETERS, [SETTINGS]))
        yield from (f"sets an unknown parameter {x!r}" for x in unknown)
        yield from (f"does not set the parameter {x!r}" for x in PARAMETERS if x not in names)
    for cell in cells:
        shown = _shows(cell)
        if len(shown) > 1:
            yield f"shows {len(shown)} figures in one cell: give each a cell of its own"
        for call in shown[:1]:
            name = figure_name(cell)
            given = {word.arg for word in call.keywords}  # None for a mapping
            lacking = {"caption", "alt"} - given if None not in given else ()
            yield from (f"shows the figure {name!r} without {x}=" for x in sorted(lacking))
            if not name:
                yield "shows a figure whose name is no text: write it out, or no one can find it"


def _assigned(code: str) -> set[str]:
    """Return the names that a cell of parameters sets; raise SyntaxError if it is no Python."""
    assigned = (s.targets for s in ast.parse(code).body if isinstance(s, ast.Assign))
    return {x.id for targets in assigned for x in targets if isinstance(x, ast.Name)}


def _title(notebook: NotebookNode, default: str) -> str:
    """Return the first heading of a notebook."""
    texts = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    lines = (line for text in texts for line in text.splitlines())
    return next((line[2:].strip() for line in lines if line.startswith("# ")), default)


def listed_files(node: Any) -> Iterator[str]:
    """Yield the pages of a table of contents, in order."""
    if isinstance(node, dict):
        yield from (node[key] for key in ("root", "file") if key in node)
        for key in ("parts", "chapters", "sections"):
            yield from listed_files(node.get(key, []))
    elif isinstance(node, list):
        for item in node:
            yield from listed_files(item)
