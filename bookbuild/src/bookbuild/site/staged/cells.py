"""Code cells of the stage: what a page shows of them, and what it folds.

A page shows code that argues: a model, an equation, a measurement. Long code, and the lines that
hand numbers to the book, are a click away.
"""

import ast
import copy
from collections.abc import Sequence

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from bookbuild.reporting.notebook import FOLD_OPENING, check, report
from bookbuild.results.executed import glued_name
from bookbuild.source.chapters import tags

LONG = 12  # lines of code that a page shows without being asked
CHECK_OPENING = '<p class="check'
REPORTING = {check.__name__, report.__name__}


def fold_long_code(cell: NotebookNode) -> None:
    """Hide a long source behind a fold, unless the chapter has its own wish for the cell."""
    wishes = any(tag.startswith(("hide", "remove")) for tag in tags(cell))
    if cell.cell_type == "code" and not wishes and len(cell.source.splitlines()) > LONG:
        cell.metadata.tags = [*tags(cell), "hide-input"]


def split_reports(cells: Sequence[NotebookNode]) -> list[NotebookNode]:
    """Return the cells, each that is shown and reports split where its first report begins.

    What comes before stays in sight; the rest, with all outputs, goes behind a fold. Nothing is
    left out and no line changes its place. A cell that only reports is folded whole.
    """
    split: list[NotebookNode] = []
    for cell in cells:
        wishes = any(tag.startswith(("hide", "remove")) for tag in tags(cell))
        lines = cell.source.splitlines()
        first = None if cell.cell_type != "code" or wishes else _first_report(cell.source)
        if first is None:
            split.append(cell)
            continue
        while first and lines[first - 1].strip()[:1] in ("", "#", "@"):
            first -= 1  # a comment goes with what it is about
        tail = copy.deepcopy(cell)
        if first:
            head = new_code_cell("\n".join(lines[:first]), id=f"{cell.id}-shown")
            head.metadata = copy.deepcopy(cell.metadata)
            head.metadata.pop("mystnb", None)
            head.execution_count = cell.execution_count
            split.append(head)
        tail.source = "\n".join(lines[first:]).strip("\n")
        tail.metadata.tags = [*tags(cell), "hide-input"]
        split.append(tail)
    return split


def _first_report(source: str) -> int | None:
    """Return how many lines stand before the first statement that reports; None without one."""
    for statement in ast.parse(source).body:
        calls = (node.func for node in ast.walk(statement) if isinstance(node, ast.Call))
        if any(isinstance(call, ast.Name) and call.id in REPORTING for call in calls):
            return statement.lineno - 1
    return None


def join_folds(cells: Sequence[NotebookNode]) -> list[NotebookNode]:
    """Return the cells, each fold of code that shows nothing joined with the one that follows."""
    joined: list[NotebookNode] = []
    for cell in cells:
        last = joined[-1] if joined else None
        if last and _is_fold(last) and _is_fold(cell) and all(map(_is_quiet, last.outputs)):
            cell = copy.deepcopy(cell)
            cell.source = f"{last.source}\n\n{cell.source}"
            cell.outputs = [*last.outputs, *cell.outputs]
            joined.pop()
        joined.append(cell)
    return joined


def _is_quiet(output: NotebookNode) -> bool:
    """Return whether an output is a number for the prose or the line of a check."""
    text = str(output.get("data", {}).get("text/html", ""))
    return bool(glued_name(output)) or text.startswith(CHECK_OPENING)


def _is_fold(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and "hide-input" in tags(cell)


def take_folds(cell: NotebookNode) -> list[str]:
    """Remove the lines of checks and provenance folds from a cell's outputs and return them.

    The lines of checks are one text, which stands first.
    """
    outputs = cell.get("outputs", [])
    html = [str(output.get("data", {}).get("text/html", "")) for output in outputs]
    taken = [text.startswith((FOLD_OPENING, CHECK_OPENING)) for text in html]
    if any(taken):
        cell.outputs = [item for item, gone in zip(outputs, taken, strict=True) if not gone]
    checks = "\n".join(text for text in html if text.startswith(CHECK_OPENING))
    folds = [text for text in html if text.startswith(FOLD_OPENING)]
    return [checks, *folds] if checks else folds
