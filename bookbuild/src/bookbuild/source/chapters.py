"""The table of contents and the chapters it lists, with their cells."""

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
from bookbuild.schema import Fault, faults, line_of, load, parsed, told
from bookbuild.settings import BuildSettings

PARAMETERS = ("profile", "device", "seed")
INJECTED = "injected-parameters"  # the tag of the cell that papermill writes
SHOWN = re.compile(r"^\s*show\(", re.MULTILINE)
SHOW_TAKES = ("caption", "alt", "data", "preset", "seeds")
SETTINGS = "settings"  # a parameter that a chapter may have: changes to its preset, by name
BOOK = "book"
TOC = "_toc.yml"
SCHEMA = Path(__file__).with_name("chapter.schema.json")
FRONT_SCHEMA = Path(__file__).with_name("front.schema.json")
TOC_SCHEMA = Path(__file__).with_name("toc.schema.json")
AT_LINE = re.compile(r"at line (\d+)")
ANY, CPU = "any", "cpu"  # where a chapter computes: on the device of the build, or never on a GPU


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


def cell_faults(notebook: NotebookNode) -> Iterator[tuple[str, int, str]]:
    """Yield the faults of parameters and figures: the code they are in, the lines above, a clause.

    A figure has a name, a caption, and a text for who cannot see it. The finished page is checked
    too, but by then its chapters have been executed.
    """
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    parameters = [cell.source for cell in cells if "parameters" in tags(cell)]
    if len(parameters) != 1:
        count = f"{len(parameters)} cells are tagged parameters; it must be exactly one"
        yield parameters[1] if parameters else "", 0, count
    for code in parameters[:1]:
        try:
            names = assigned(code)
        except SyntaxError as error:
            line = (error.lineno or 1) - 1
            yield code, line, f"the cell of parameters is no Python: {error.msg}"
            continue
        unknown = sorted(names.keys() - {*PARAMETERS, SETTINGS})
        yield from ((code, names[x], f"there is no parameter {x!r}") for x in unknown)
        lacking = (x for x in PARAMETERS if x not in names)
        yield from ((code, 0, f"the parameter {x!r} is not set") for x in lacking)
    for cell in cells:
        shown, code = _shows(cell), cell.source
        if len(shown) > 1:
            line = shown[1].lineno - 1
            yield code, line, f"one cell shows {len(shown)} figures: give each a cell of its own"
        for call in shown[:1]:
            name, line = figure_name(cell), call.lineno - 1
            given = {word.arg: word.value.lineno - 1 for word in call.keywords}  # None: a mapping
            lacking = (x for x in ("alt", "caption") if None not in given and x not in given)
            yield from ((code, line, f"the figure {name!r} is shown without {x}=") for x in lacking)
            for word in given.keys() - {*SHOW_TAKES, None}:
                yield code, given[word], f"a figure is shown with {word}=, which show does not take"
            if not name:
                place = call.args[1].lineno - 1 if call.args[1:] else line
                said = "the name of a figure is no text: write it out, or no one can find it"
                yield code, place, said


def assigned(code: str) -> dict[str, int]:
    """Return the names that a cell sets, each with the number of lines above it; or SyntaxError."""
    assigned = (node for node in ast.parse(code).body if isinstance(node, ast.Assign))
    pairs = ((x, node.lineno - 1) for node in assigned for x in node.targets)
    return {x.id: line for x, line in pairs if isinstance(x, ast.Name)}


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
        return "line {}: {}".format(*place_of(page, prose, number))

    @property
    def takes_settings(self) -> bool:
        """Whether its settings can be changed from outside."""
        return any(
            SETTINGS in assigned(cell.source) for cell in self.code if "parameters" in tags(cell)
        )

    @property
    def page(self) -> str:
        """The address of the page, relative to the folder of the book."""
        return f"{self.name}.html"


def read_toc(root: Path) -> dict[str, Any]:
    """Return the table of contents; raise BookError where there is no book, or a page is not."""
    path = root / TOC
    if not path.is_file():
        raise BookError("There is no _toc.yml here: run this from the root of the repository.")
    toc: dict[str, Any] = load(path, path.name)
    flaws = faults(toc, TOC_SCHEMA)
    if not flaws:
        pages = [*_listed(toc)]
        first = dict(reversed(pages))
        for name, place in pages:
            if not (root / f"{name}.md").is_file():
                flaws.append(Fault(place, f"it lists {name}, but there is no {name}.md"))
            elif first[name] is not place:
                flaws.append(Fault(place, f"it lists {name} twice"))
    raise_if_any(told(flaws, path.read_text(encoding="utf-8"), path.name) if flaws else ())
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
    """Return the chapters that the table of contents lists; raise BookError for all bad ones."""
    chapters: list[Chapter] = []
    problems: list[str] = []
    for path in (root / f"{name}.md" for name in listed_files(toc)):
        try:
            if is_notebook(path):
                chapters.append(_read(root, path))
        except BookError as error:
            problems += error.problems
    raise_if_any(problems)
    return chapters


def read_chapter(root: Path, name: str) -> Chapter:
    """Return one chapter by name, listed or not; raise BookError for an unknown one."""
    path = root / BOOK / f"{name}.md"
    if not path.is_file() or not is_notebook(path):
        names = ", ".join(chapter.name for chapter in read_chapters(root, read_toc(root)))
        raise BookError(f"There is no chapter {name!r}; the chapters are {names}.")
    return _read(root, path)


def is_notebook(path: Path) -> bool:
    """Return whether a page has cells of code, or a kernelspec in its front matter."""
    text = read_text(path)
    front = text.split("\n---", 1)[0] if text.startswith("---\n") else ""
    return "\nkernelspec:" in front or "\n```{code-cell}" in text


def read_text(path: Path) -> str:
    """Return what a page says; raise BookError for one that is no text."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BookError(f"{path.name}, line 1: it cannot be read: {error}.") from error


def line_in(page: str, piece: str) -> int:
    """Return the line of a page on which a piece of it begins; the first for one that is not."""
    return page[: max(0, page.find(piece))].count("\n") + 1


def _read(root: Path, path: Path) -> Chapter:
    """Return the chapter in a file; raise BookError for wrong parameters or missing data."""
    name, page = path.relative_to(root / BOOK).with_suffix("").as_posix(), read_text(path)
    front, place = page.split("\n---", 1)[0].removeprefix("---"), f"{BOOK}/{name}.md"
    fields = parsed(front, place)
    raise_if_any(told(faults(fields, FRONT_SCHEMA), front, place))
    try:
        notebook = jupytext.read(path, fmt="md:myst")
    except (MystMetadataParsingError, YAMLError) as error:
        said = " ".join(str(error).split())
        found = AT_LINE.search(said)
        line = int(found[1]) + 1 if found else 1  # below the fence
        raise BookError(f"{place}, line {line}: it cannot be read: {said}.") from error
    for position, cell in enumerate(notebook.cells):
        # jupytext draws a new id at each reading; the built page must not change with it.
        cell["id"] = hashlib.sha256(f"{name} {position}".encode()).hexdigest()[:12]
    declared: dict[str, Any] = notebook.metadata.pop("bookbuild", {})
    slips = [
        (line_of(front, ("bookbuild", "data", number)), f"there is no {file}")
        for number, file in enumerate(declared.get("data", ()))
        if not (root / file).is_file()
    ]
    slips += ((line_in(page, code) + more, said) for code, more, said in cell_faults(notebook))
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    for text in texts:
        for number, code in enumerate(quoted_code(text), start=1):
            if why := fault(code):
                at, said = place_of(page, text, number)
                slips.append((at, f"{said} is no expression ({why})"))
    raise_if_any(f"{place}, line {line}: {clause}." for line, clause in slips)
    parts: dict[str, Any] = {
        key: tuple(x) if isinstance(x, list) else x for key, x in declared.items()
    }
    headings = (x for text in texts for x in text.splitlines() if x.startswith("# "))
    return Chapter(name, next(headings, f"# {name}")[2:].strip(), notebook, **parts)


def listed_files(node: Any) -> Iterator[str]:
    """Yield the pages of a table of contents, in order."""
    yield from (name for name, _ in _listed(node))


def _listed(
    node: Any, path: tuple[int | str, ...] = ()
) -> Iterator[tuple[str, tuple[int | str, ...]]]:
    """Yield the pages of a table of contents, in order, with the paths of their fields."""
    if isinstance(node, dict):
        yield from ((node[key], (*path, key)) for key in ("root", "file") if key in node)
        for key in ("parts", "chapters", "sections"):
            yield from _listed(node.get(key, []), (*path, key))
    elif isinstance(node, list):
        for number, item in enumerate(node):
            yield from _listed(item, (*path, number))
