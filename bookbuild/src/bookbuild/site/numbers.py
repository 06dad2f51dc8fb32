"""Numbers in prose: values of a page's own expressions, and measures of other pages."""

import copy
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from bookbuild.errors import BookError
from bookbuild.reporting.expressions import TAG, TEXTS, filled, quoted_code, signed
from bookbuild.reporting.measures import quotable
from bookbuild.results.executed import ExecutedChapter
from bookbuild.source.chapters import BOOK, INJECTED, Chapter, tags

Numbers = Mapping[str, bool | float]
QUOTE = re.compile(r"(?<!`)\{glue:text\}`([a-z0-9_]+):?([^`]*)`")
PARAMETERS = "Parameters of this run"


def executed_page(chapter: Chapter, executed: NotebookNode) -> NotebookNode:
    """Return a chapter with the outputs of an execution, matched in order, and its prose filled in.

    The cell that carries the parameters of the run is taken over, hidden behind a fold.
    """
    ran = (cell for cell in executed.cells if cell.cell_type == "code")
    page, cells = copy.deepcopy(chapter.notebook), []
    for cell in page.cells:
        cells.append(cell)
        if cell.cell_type == "markdown" and quoted_code(cell.source):
            # beside the values, expressions may have given warnings
            (texts,) = (x.data[TEXTS] for x in next(ran).outputs if TEXTS in x.get("data", {}))
            cell.source = filled(cell.source, iter(texts))
        if cell.cell_type != "code":
            continue
        source = next(ran)
        assert TAG not in tags(source)
        cell.outputs, cell.execution_count = source.outputs, source.execution_count
        if "parameters" in tags(cell):
            injected = next(ran)
            injected.metadata.tags = [INJECTED, "hide-input"]
            prompts = ("code_prompt_show", "code_prompt_hide")
            injected.metadata.mystnb = dict.fromkeys(prompts, PARAMETERS)
            cells.append(injected)
    page.cells = cells
    return page


def numbers_of(entries: Iterable[ExecutedChapter]) -> dict[str, bool | float]:
    """Return what prose can quote of the measures of chapters, by name."""
    numbers: dict[str, bool | float] = {}
    for key, measure in (pair for entry in entries for pair in entry.measures.items()):
        numbers |= quotable(key, measure["value"], measure["over"])
    return numbers


def quoted_in(root: Path, measures: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """Return the measures of chapters that some page of the book quotes, given those of each."""
    pages = (path.read_text(encoding="utf-8") for path in (root / BOOK).rglob("*.md"))
    quotes = {match[1] for page in pages for match in QUOTE.finditer(page)}
    return {
        key
        for chapter in measures.values()
        for key, measure in chapter.items()
        if quotes.intersection(quotable(key, measure["value"], measure["over"]))
    }


def quote_numbers(text: str, page: str, numbers: Numbers) -> str:
    """Return a text with the numbers that it quotes by name; BookError for one that cannot be."""

    def number(match: re.Match[str]) -> str:
        name, form = match.groups()
        if name not in numbers:
            raise BookError(f"{page} quotes the number {name!r}, which no chapter reports.")
        try:
            return signed(format(numbers[name], form).replace("inf", "∞"))
        except ValueError as error:
            raise BookError(f"{page} quotes the number {name!r} as {form!r}: {error}.") from error

    return QUOTE.sub(number, text)
