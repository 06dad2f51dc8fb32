"""The notebook of a chapter that a reader opens on Colab, Binder or at home."""

import ast
import copy
import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookbuild.reporting.notebook import FOLD_OPENING
from bookbuild.results.executed import Entry, glued_name
from bookbuild.site.stage import INJECTED
from bookbuild.source.chapters import Chapter, tags

from .prose import Prose

OPENING = "launch"  # the tag of the first code cell
DOWNLOADS = re.compile(r"<dt>download</dt><dd>.*?</dd>", re.DOTALL)


def reader_notebook(
    chapter: Chapter, entry: Entry | None, *, opening: str, prose: Prose, source: str
) -> NotebookNode:
    """Return a notebook with plain prose, and with the outputs of an entry and their numbers.

    `opening` is the code of its first cell, if any; `source` is the address of the chapter's text.
    """
    executed = chapter_code(entry.notebook) if entry else []
    prose = replace(prose, numbers=dict(_numbers(executed)))
    cells = [new_markdown_cell(_note(source, entry), id="note")]
    if opening:
        cells.append(new_code_cell(opening, id=OPENING, metadata={"tags": [OPENING]}))
    outputs = iter(executed)
    folder = chapter.name.rpartition("/")[0]
    for cell in chapter.notebook.cells:
        if cell.cell_type == "code":
            cells.append(_code(cell, next(outputs, None)))
        else:
            cells.append(new_markdown_cell(prose.plain(cell.source, folder), id=cell.id))
    return new_notebook(
        cells=cells, metadata={"kernelspec": chapter.notebook.metadata["kernelspec"]}
    )


def chapter_code(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells that come from the chapter."""
    added = {INJECTED, OPENING}
    code = (cell for cell in notebook.cells if cell.cell_type == "code")
    return [cell for cell in code if not added & set(tags(cell))]


def is_of(notebook: NotebookNode, chapter: Chapter) -> bool:
    """Return whether a notebook has the code of a chapter, its parameters aside."""
    return _sources(chapter_code(notebook)) == _sources(chapter.code)


def _sources(cells: Sequence[NotebookNode]) -> list[str]:
    return ["" if "parameters" in tags(cell) else cell.source for cell in cells]


def _code(cell: NotebookNode, executed: NotebookNode | None) -> NotebookNode:
    """Return a code cell for a reader."""
    names = tags(cell)
    shown = new_code_cell(cell.source, id=cell.id, metadata={"tags": names} if names else {})
    if executed is not None:
        alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
        shown.execution_count = executed.execution_count
        shown.outputs = [_output(item, alt) for item in executed.outputs if not glued_name(item)]
    return shown


def _output(output: NotebookNode, alt: str) -> NotebookNode:
    """Return an output that reads well away from the site: white paper, no dead downloads."""
    output = copy.deepcopy(output)
    data = output.get("data", {})
    if "image/svg+xml" in data:
        label = f' role="img" aria-label="{html.escape(alt)}"' if alt else ""
        opened = f'<svg style="background: #fff"{label} '
        data["image/svg+xml"] = data["image/svg+xml"].replace("<svg ", opened, 1)
    if str(data.get("text/html", "")).startswith(FOLD_OPENING):
        data["text/html"] = DOWNLOADS.sub("", data["text/html"])
    return output


def _numbers(cells: Sequence[NotebookNode]) -> Iterator[tuple[str, float | bool]]:
    """Yield the glued numbers of executed cells, by key."""
    for output in (output for cell in cells for output in cell.outputs):
        if name := glued_name(output):
            text = next(text for kind, text in output.data.items() if kind.endswith("text/plain"))
            # infinity has no literal in Python
            is_infinite = text.lstrip("-") in ("inf", "nan")
            yield name, float(text) if is_infinite else ast.literal_eval(text)


def _note(source: str, entry: Entry | None) -> str:
    """Return the first cell: where this comes from, what made the outputs, what a run does."""
    stored = "No outputs are stored here."
    if entry:
        origin = entry.origin
        stored = (
            f"The outputs stored here were made by the {origin['profile']} profile on "
            f"{origin['device']}, seed {origin['seed']}, commit {origin['commit']}, on "
            f"{str(origin['date'])[:10]}, and so were the numbers in the text."
        )
    return (
        f"> Made from [the chapter's source]({source}); edits belong there. {stored} Running the "
        'cells uses the smoke profile, tiny sizes in seconds; set `profile = "paper"` for the '
        "sizes of the paper."
    )
