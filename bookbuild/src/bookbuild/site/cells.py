"""What the stage makes of the code and the prose of a page.

A page shows code that argues: a model, an equation, a measurement. Long code, and the lines that
hand numbers to the book, are a click away.

A page may show a row's badge, `{verdict}` with its id, and draw a conclusion, which is a block of
sentences, one per verdict:

    ```{concluded} id-of-a-claim
    reproduced: The head needs no help.
    contradicted: The head needs the other parameters.
    ```

The build shows the sentence of the verdict that it found, so that nobody can type it.

A statement is a directive that has a label, such as a theorem, or whatever block follows a target:

    (law)=
    The head takes a time of order N squared.
"""

import ast
import copy
import re
from collections.abc import Mapping, Sequence

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from bookbuild.errors import BookError
from bookbuild.ledger.claims import Finding
from bookbuild.ledger.templates import render
from bookbuild.reporting.notebook import FOLD_OPENING, check, report
from bookbuild.results.executed import glued_name
from bookbuild.source.chapters import tags

LONG = 12  # lines of code that a page shows without being asked
FOLDED = "hide-input"
CHECK_OPENING = '<p class="check'
REPORTING = {check.__name__, report.__name__}
BADGE = re.compile(r"\{verdict\}`([\w-]+)`")
BLOCK = re.compile(r"^```\{concluded\} ([\w -]+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SENTENCE = re.compile(r"^(reproduced|partly|contradicted|not testable here): (.+)$", re.MULTILINE)
DIRECTIVE = r"^(?P<{0}>`{{3,}})\{{.*?^(?P={0})$"
STATEMENT = re.compile(
    rf"(?:^\([\w-]+\)=\n)+(?:{DIRECTIVE.format('below')}|^[^\n]+(?:\n[^\n]+)*)"
    rf"|{DIRECTIVE.format('alone')}",
    re.DOTALL | re.MULTILINE,
)
ANCHOR = re.compile(r"^(?:\(([\w-]+)\)=|:label: ([\w-]+))$", re.MULTILINE)
TOY = "This page was built at toy sizes, which cannot answer this question."
SURPRISE = "This build found something else than we expected of this statement: "
UNCONFIRMED = "(This was not repeated at other first seeds and under another rounding yet.)"


def fold_cells(cells: Sequence[NotebookNode]) -> list[NotebookNode]:
    """Return the cells with code behind folds where it is long or reports.

    A cell that reports is split where its first report begins. What comes before stays in sight;
    the rest, with all outputs, goes behind a fold. Nothing is left out and no line changes its
    place. A cell for which the chapter has a wish of its own stays as it is. A fold of code that
    shows nothing is joined with the one that follows.
    """
    folded: list[NotebookNode] = []
    for cell in cells:
        wishes = any(tag.startswith(("hide", "remove")) for tag in tags(cell))
        for part in [cell] if wishes or cell.cell_type != "code" else _split(cell):
            last = folded[-1] if folded else None
            if last and _is_fold(last) and _is_fold(part) and all(map(_is_quiet, last.outputs)):
                part = copy.deepcopy(part)
                part.source = f"{last.source}\n\n{part.source}"
                part.outputs = [*last.outputs, *part.outputs]
                folded.pop()
            folded.append(part)
    return folded


def _split(cell: NotebookNode) -> list[NotebookNode]:
    """Return what a cell shows and what it folds."""
    lines, first = cell.source.splitlines(), _first_report(cell.source)
    if first is None:
        return [_folded(cell) if len(lines) > LONG else cell]
    while first and lines[first - 1].strip()[:1] in ("", "#", "@"):
        first -= 1  # a comment goes with what it is about
    tail = _folded(cell)
    tail.source = "\n".join(lines[first:]).strip("\n")
    if not first:
        return [tail]
    head = new_code_cell("\n".join(lines[:first]), id=f"{cell.id}-shown")
    head.metadata = copy.deepcopy(cell.metadata)
    head.metadata.pop("mystnb", None)
    head.execution_count = cell.execution_count
    return [_folded(head) if first > LONG else head, tail]


def _first_report(source: str) -> int | None:
    """Return how many lines stand before the first statement that reports; None without one."""
    for statement in ast.parse(source).body:
        calls = (node.func for node in ast.walk(statement) if isinstance(node, ast.Call))
        if any(isinstance(call, ast.Name) and call.id in REPORTING for call in calls):
            return statement.lineno - 1
    return None


def _folded(cell: NotebookNode) -> NotebookNode:
    cell = copy.deepcopy(cell)
    cell.metadata.tags = [*tags(cell), FOLDED]
    return cell


def _is_fold(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and FOLDED in tags(cell)


def _is_quiet(output: NotebookNode) -> bool:
    """Return whether an output is a number for the prose or the line of a check."""
    return bool(glued_name(output)) or _html(output).startswith(CHECK_OPENING)


def take_folds(cell: NotebookNode) -> list[str]:
    """Remove the lines of checks and provenance folds from a cell's outputs and return them.

    The lines of checks are one text, which stands first.
    """
    texts = [_html(output) for output in cell.get("outputs", [])]
    checks = [text for text in texts if text.startswith(CHECK_OPENING)]
    folds = [text for text in texts if text.startswith(FOLD_OPENING)]
    if checks or folds:
        cell.outputs = [item for item in cell.outputs if _html(item) not in (*checks, *folds)]
    return ["\n".join(checks), *folds] if checks else folds


def _html(output: NotebookNode) -> str:
    return str(output.get("data", {}).get("text/html", ""))


def quote_verdicts(text: str, page: str, findings: Mapping[str, Finding], *, up: str = "") -> str:
    """Return a page with its badges and conclusions filled in.

    Args:
        text: the page as it is written.
        page: its name, for messages.
        findings: the rows of the ledger, judged, by their ids.
        up: what leads from the page to the folder of the book.

    Raises:
        BookError: for a row that the ledger lacks.
    """

    def rows(names: str) -> list[Finding]:
        missing = [name for name in names.split() if name not in findings]
        if missing:
            raise BookError(f"{page} quotes the claim {missing[0]!r}, which is not in the ledger.")
        return [findings[name] for name in names.split()]

    def conclusion(match: re.Match[str]) -> str:
        quoted = rows(match[1])
        return f"{concluded(quoted, dict(SENTENCE.findall(match[2])))} {_badges(quoted, up)}"

    text = BLOCK.sub(conclusion, text)
    return BADGE.sub(lambda match: _badges(rows(match[1]), up), text)


def concluded(findings: Sequence[Finding], sentences: Mapping[str, str]) -> str:
    """Return what follows from rows: the sentence for their verdict, else what they state.

    Rows with different verdicts are partly reproduced together. What is only unconfirmed follows as
    from a reproduced row, and the sentence says so.
    """
    verdicts = {"reproduced" if f.unconfirmed else f.verdict for f in findings}
    if "not judged" in verdicts:
        return TOY
    verdict = verdicts.pop() if len(verdicts) == 1 else "partly"
    stated = " ".join(finding.claim.statement for finding in findings)
    said = sentences.get(verdict, f"{SURPRISE}{stated}")
    return f"{said} {UNCONFIRMED}" if any(finding.unconfirmed for finding in findings) else said


def _badges(findings: Sequence[Finding], up: str) -> str:
    return " ".join(
        render("row_badge.html", finding=finding, up=up).strip() for finding in findings
    )


def add_below(text: str, below: Mapping[str, str]) -> str:
    """Return a text with a block added below each statement that has one, by its anchor."""

    def add(match: re.Match[str]) -> str:
        anchors = (target or label for target, label in ANCHOR.findall(match[0]))
        blocks = [below[anchor].strip() for anchor in anchors if anchor in below]
        return "\n\n".join([match[0], *blocks])

    return STATEMENT.sub(add, text)
