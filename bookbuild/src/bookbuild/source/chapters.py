"""The table of contents and the chapters it lists."""

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jupytext
from jupytext.myst import MystMetadataParsingError
from nbformat import NotebookNode
from yaml import YAMLError

from bookbuild.errors import BookError, raise_if_any
from bookbuild.schema import load
from bookbuild.settings import Settings, one_of

BOOK = "book"
PARAMETERS = ("profile", "device", "seed")
LEAST_ALT = 20  # characters; a shorter text cannot state a finding
SHOWN = re.compile(r"^show\(\s*\w+,\s*(f?\"[^\"]+\")", re.MULTILINE)
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
    data: tuple[str, ...]
    minutes: float = 0
    device: str = ANY
    timings: tuple[str, ...] = ()

    def placed(self, settings: Settings) -> Settings:
        """Return the settings of a build, on the device that the chapter computes on."""
        return replace(settings, device=CPU) if self.device == CPU else settings

    @property
    def code(self) -> list[NotebookNode]:
        """The code cells, in order."""
        return [cell for cell in self.notebook.cells if cell.cell_type == "code"]

    @property
    def page(self) -> str:
        """The address of the page, relative to the folder of the book."""
        return f"{self.name}.html"


def read_toc(root: Path, part: str | None = None) -> dict[str, Any]:
    """Return the table of contents, restricted to one part if one is named.

    Raises BookError where there is no book, and for an unknown part.
    """
    path = root / "_toc.yml"
    if not path.is_file():
        raise BookError("There is no _toc.yml here: run this from the root of the repository.")
    toc = load(path, path.name)
    if part is None:
        return toc
    known = parts(toc)
    one_of("PART", part, known)
    return _without(toc, tuple(f"{BOOK}/{other}/" for other in known if other != part))


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
        known = ", ".join(chapter.name for chapter in read_chapters(root, read_toc(root)))
        raise BookError(f"There is no chapter {name!r}; the chapters are {known}.")
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
    figure = cell.metadata.get("mystnb", {}).get("figure", {})
    return str(figure.get("name", ""))


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
    declared = notebook.metadata.pop("bookbuild", {})
    data = tuple(declared.get("data", ()))
    raise_if_any(
        f"Chapter {name} reads {file}, which does not exist."
        for file in data
        if not (root / file).is_file()
    )
    minutes = declared.get("minutes", 0)
    if not isinstance(minutes, int | float):
        raise BookError(
            f"Chapter {name} declares {minutes!r} as its minutes, which is not a number."
        )
    device = declared.get("device", ANY)
    if device not in (ANY, CPU):
        raise BookError(
            f"Chapter {name} declares {device!r} as its device, which must be any or cpu."
        )
    _check_parameters(name, notebook)
    raise_if_any(_figure_faults(name, notebook))
    timings = tuple(declared.get("timings", ()))
    return Chapter(name, _title(notebook, name), notebook, data, minutes, device, timings)


def _check_parameters(name: str, notebook: NotebookNode) -> None:
    """Raise BookError unless one cell is tagged parameters and sets the three of them."""
    cells = [cell for cell in notebook.cells if "parameters" in tags(cell)]
    if len(cells) != 1:
        raise BookError(
            f"Chapter {name} has {len(cells)} cells tagged parameters; it must have exactly one."
        )
    try:
        statements = ast.parse(cells[0].source).body
    except SyntaxError as error:
        raise BookError(f"Chapter {name}: its cell of parameters is no Python: {error}.") from error
    names = [
        target.id
        for statement in statements
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    ]
    raise_if_any(
        [f"Chapter {name} sets an unknown parameter {x!r}." for x in names if x not in PARAMETERS]
        + [
            f"Chapter {name} does not set the parameter {x!r}."
            for x in PARAMETERS
            if x not in names
        ]
    )


def _figure_faults(name: str, notebook: NotebookNode) -> Iterator[str]:
    """Yield a sentence for each figure that is shown without a name or a text for who cannot see.

    The finished page is checked too, but by then its chapters have been executed.
    """
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        if shown := SHOWN.search(cell.source):
            alt = " ".join(
                str(cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")).split()
            )
            if not figure_name(cell):
                yield f"Chapter {name}: the cell that shows {shown[1]} has no mystnb.figure.name."
            if len(alt) < LEAST_ALT:
                yield (
                    f"Chapter {name}: the cell that shows {shown[1]} has no text mystnb.image.alt "
                    f"that states its finding, only {alt!r}."
                )


def _title(notebook: NotebookNode, default: str) -> str:
    """Return the first heading of a notebook."""
    for cell in notebook.cells:
        for line in cell.source.splitlines() if cell.cell_type == "markdown" else ():
            if line.startswith("# "):
                return line[2:].strip()
    return default


def listed_files(node: Any) -> Iterator[str]:
    """Yield the pages of a table of contents, in order."""
    if isinstance(node, dict):
        yield from (node[key] for key in ("root", "file") if key in node)
        for key in ("parts", "chapters", "sections"):
            yield from listed_files(node.get(key, []))
    elif isinstance(node, list):
        for item in node:
            yield from listed_files(item)


def _without(node: Any, prefixes: tuple[str, ...]) -> Any:
    """Return a table of contents without the pages below the prefixes and without empty parts."""
    if isinstance(node, list):
        kept = (_without(item, prefixes) for item in node)
        return [item for item in kept if item is not None]
    if not isinstance(node, dict):
        return node
    if str(node.get("file", "")).startswith(prefixes):
        return None
    pruned = {key: _without(value, prefixes) for key, value in node.items()}
    return None if pruned.get("chapters") == [] else pruned
