"""The notebook of a chapter that a reader opens on Colab, Binder or at home."""

import ast
import copy
import html
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookbuild.reporting.notebook import FOLD_OPENING
from bookbuild.results.executed import Entry, glued_name
from bookbuild.site.stage import INJECTED
from bookbuild.source.chapters import Chapter, tags

from .prose import Prose

KEY = "bookbuild"  # in the metadata of a notebook: what made its outputs
OPENING = "launch"  # the tag of the first code cell
DOWNLOADS = re.compile(r"<dt>download</dt><dd>.*?</dd>", re.DOTALL)


@dataclass(frozen=True)
class Stored:
    """A chapter's code cells with outputs, the numbers its prose quotes, and what made them."""

    cells: Sequence[NotebookNode]
    numbers: Mapping[str, float | bool]
    origin: Mapping[str, Any]

    @classmethod
    def of_entry(cls, entry: Entry) -> "Stored":
        """Return what an entry holds."""
        cells = _chapter_code(entry.notebook)
        return cls(cells, dict(_numbers(cells)), entry.origin)

    @classmethod
    def of_notebook(cls, notebook: NotebookNode) -> "Stored | None":
        """Return what a notebook made here holds, or None where it holds no outputs."""
        made = notebook.metadata.get(KEY)
        if not made:
            return None
        numbers = {
            key: _number(value) if isinstance(value, str) else value
            for key, value in made["numbers"].items()
        }
        return cls(_chapter_code(notebook), numbers, made["origin"])

    def fits(self, chapter: Chapter) -> bool:
        """Return whether these are the outputs of the chapter's code, its parameters aside."""
        return _sources(self.cells) == _sources(chapter.code)


def reader_notebook(
    chapter: Chapter, stored: Stored | None, *, opening: str, prose: Prose, source: str
) -> NotebookNode:
    """Return a notebook with plain prose, and outputs where they are stored.

    `opening` is the code of its first cell, if any; `source` is the address of the chapter's text.
    """
    cells = [new_markdown_cell(_note(source, stored), id="note")]
    if opening:
        cells.append(new_code_cell(opening, id=OPENING, metadata={"tags": [OPENING]}))
    outputs = iter(stored.cells if stored else ())
    folder = chapter.name.rpartition("/")[0]
    for cell in chapter.notebook.cells:
        if cell.cell_type == "code":
            cells.append(_code(cell, next(outputs) if stored else None))
        else:
            cells.append(new_markdown_cell(prose.plain(cell.source, folder), id=cell.id))
    metadata: dict[str, Any] = {"kernelspec": chapter.notebook.metadata["kernelspec"]}
    if stored:
        # infinity only as a text: the JSON of a notebook has to be strict
        numbers = {
            key: value if math.isfinite(value) else str(value)
            for key, value in stored.numbers.items()
        }
        metadata[KEY] = {"numbers": numbers, "origin": dict(stored.origin)}
    return new_notebook(cells=cells, metadata=metadata)


def _code(cell: NotebookNode, executed: NotebookNode | None) -> NotebookNode:
    """Return a code cell for a reader."""
    names = tags(cell)
    made = new_code_cell(cell.source, id=cell.id, metadata={"tags": names} if names else {})
    if executed is not None:
        alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
        made.execution_count = executed.execution_count
        made.outputs = [_output(item, alt) for item in executed.outputs if not glued_name(item)]
    return made


def _output(output: NotebookNode, alt: str) -> NotebookNode:
    """Return an output that reads well away from the site: white paper, no dead downloads."""
    output = copy.deepcopy(output)
    data = output.get("data", {})
    if "image/svg+xml" in data:
        label = f' role="img" aria-label="{html.escape(alt)}"' if alt else ""
        opened = f'<svg style="background: #fff"{label} '
        # an executed notebook from the published branch has it already
        if "<svg style=" not in data["image/svg+xml"]:
            data["image/svg+xml"] = data["image/svg+xml"].replace("<svg ", opened, 1)
    if str(data.get("text/html", "")).startswith(FOLD_OPENING):
        data["text/html"] = DOWNLOADS.sub("", data["text/html"])
    return output


def _numbers(cells: Sequence[NotebookNode]) -> Iterator[tuple[str, float | bool]]:
    """Yield the glued numbers of executed cells, by key."""
    for output in (output for cell in cells for output in cell.outputs):
        if name := glued_name(output):
            text = next(text for kind, text in output.data.items() if kind.endswith("text/plain"))
            yield name, _number(text)


def _number(text: str) -> float | bool:
    """Return the number that a text shows; infinity has no literal in Python."""
    return float(text) if text.lstrip("-") in ("inf", "nan") else ast.literal_eval(text)


def _note(source: str, stored: Stored | None) -> str:
    """Return the first cell: where this comes from, what made the outputs, what a run does."""
    made = "No outputs are stored here."
    if stored:
        origin = stored.origin
        made = (
            f"The outputs stored here were made by the {origin['profile']} profile on "
            f"{origin['device']}, seed {origin['seed']}, commit {origin['commit']}, on "
            f"{str(origin['date'])[:10]}, and so were the numbers in the text."
        )
    return (
        f"> Made from [the chapter's source]({source}); edits belong there. {made} Running the "
        'cells uses the smoke profile, tiny sizes in seconds; set `profile = "paper"` for the '
        "sizes of the paper."
    )


def _chapter_code(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells that come from the chapter."""
    added = {INJECTED, OPENING}
    code = (cell for cell in notebook.cells if cell.cell_type == "code")
    return [cell for cell in code if not added & set(tags(cell))]


def _sources(cells: Sequence[NotebookNode]) -> list[str]:
    return ["" if "parameters" in tags(cell) else cell.source for cell in cells]
