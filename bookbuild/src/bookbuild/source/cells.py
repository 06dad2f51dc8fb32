"""What the cells of a chapter are: their tags, their parameters, and the figures that they show."""

import ast
import re
from collections.abc import Iterator

from nbformat import NotebookNode

PARAMETERS = ("profile", "device", "seed")
INJECTED = "injected-parameters"  # the tag of the cell that papermill writes
SHOWN = re.compile(r"^\s*show\(", re.MULTILINE)
SHOW_TAKES = ("caption", "alt", "data", "preset", "seeds")
SETTINGS = "settings"  # a parameter that a chapter may have: changes to its preset, by name


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
