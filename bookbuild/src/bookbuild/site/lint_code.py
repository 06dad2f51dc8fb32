"""Slips in the code of a chapter, which is read and not run: names, tags, figures, measures."""

import ast
import builtins
import re
from collections.abc import Iterator
from symtable import symtable

from nbformat import NotebookNode

from bookbuild.reporting.expressions import ROLE, quoted_code
from bookbuild.reporting.notebook import FIGURE_NAME, KEY
from bookbuild.source.cells import figure_name, tags
from bookbuild.source.chapters import Chapter, line_in

MAGIC = re.compile(r"^\s*[%!].*$", re.MULTILINE)  # IPython's own words
CELL_TAGS = """parameters hide-input hide-output hide-cell remove-input remove-output remove-cell
remove-stdout remove-stderr raises-exception scroll-output full-width margin"""
GIVEN = ("profile", "device", "seed", "settings", "display", "get_ipython", "__file__")
AT_ONCE = ("listcomp", "setcomp", "dictcomp", "genexpr")  # what reads names where it stands
ANY = ""  # a measure whose name cannot be read


def code_slips(
    chapter: Chapter, text: str, measures: dict[str, int], figures: dict[str, str]
) -> Iterator[tuple[int, str]]:
    """Yield the slips of a chapter's code and expressions; note what it reports and shows."""
    every = {name for cell in chapter.notebook.cells for name in _names(cell)[0]}
    known = {*dir(builtins), *GIVEN}
    for cell in chapter.notebook.cells:
        line, source = line_in(text, cell.source), cell.source
        if cell.cell_type == "markdown":
            for role, code in zip(ROLE.finditer(source), quoted_code(source), strict=True):
                at = line + source[: role.start("code")].count("\n")
                yield from ((at, f"nothing above defines {x!r}") for x in _read(code) - known)
            continue
        for tag in (x for x in tags(cell) if x not in CELL_TAGS.split()):
            above = text[: text.rfind(":tags:", 0, text.find(source))]
            yield above.count("\n") + 1, f"there is no tag {tag!r}"
        try:
            nodes = [*ast.walk(ast.parse(MAGIC.sub("", source)))]
        except SyntaxError as error:
            yield line + (error.lineno or 1) - 1, f"the cell is no Python: {error.msg}"
            continue
        bound, now, later = _names(cell)
        known |= bound
        lost = (now - known) | (later - known - every)
        for node in (x for x in nodes if isinstance(x, ast.Name) and x.id in lost):
            yield line + node.lineno - 1, f"nothing above defines {node.id!r}"
        if name := figure_name(cell):
            if not FIGURE_NAME.fullmatch(name):
                at = line + source[: source.find(name)].count("\n")
                yield at, f"the figure's name {name!r} is not of small words, digits, - and _"
            if figures.setdefault(name, chapter.name) != chapter.name:
                yield line, f"the figure {name!r} is shown by {figures[name]} too"
        for call in (x for x in nodes if isinstance(x, ast.Call)):
            for name in filter(None, _reported(call)):
                if name in measures:
                    said = f"the measure {name!r} is reported on line {measures[name]} already"
                    yield line + call.lineno - 1, said
                elif not KEY.fullmatch(name):
                    yield line + call.lineno - 1, f"the measure {name!r} is no snake_case"
            measures |= dict.fromkeys(_reported(call), line + call.lineno - 1)


def _reported(call: ast.Call) -> list[str]:
    is_report = isinstance(call.func, ast.Name) and call.func.id == "report"
    return [word.arg or ANY for word in call.keywords] if is_report else []


def _names(cell: NotebookNode) -> tuple[set[str], set[str], set[str]]:
    """Return what a cell defines, what it reads at once, and what its functions read later."""
    bound, now, later = set[str](), set[str](), set[str]()
    try:
        code = MAGIC.sub("", cell.source) if cell.cell_type == "code" else ""
        table = symtable(code, "", "exec")
    except SyntaxError:
        return bound, now, later
    tables = [(table, now)]
    while tables:
        scope, reads = tables.pop()
        for symbol in scope.get_symbols():
            if scope is table or symbol.is_global():
                if symbol.is_assigned() or symbol.is_imported():
                    bound.add(symbol.get_name())
                if symbol.is_referenced():
                    reads.add(symbol.get_name())
        for child in scope.get_children():
            at_once = reads is now and child.get_name() in AT_ONCE
            tables.append((child, now if at_once else later))
    return bound, now, later


def _read(code: str) -> set[str]:
    nodes = [*ast.walk(ast.parse(f"({code})", mode="eval"))]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return {node.id for node in names} - own - {x.arg for x in nodes if isinstance(x, ast.arg)}
