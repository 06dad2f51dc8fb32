"""What the stage makes of the code and the prose of a page.

A page shows code as its author wrote it; a tag of the author folds what draws or reports. What
defends its verdicts stands at its end, behind one fold.

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

import re
from collections.abc import Callable, Mapping, Sequence

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from bookbuild.errors import BookError
from bookbuild.ledger.claims import Finding
from bookbuild.ledger.templates import render
from bookbuild.reporting.notebook import ABOUT, FOLD_OPENING

HEADING = re.compile(r"^((?:\([\w-]+\)=\n)*## .+)$", re.MULTILINE)
CHECKS = re.compile(r"## (?:[\d.A-F]+\*? )?Checks of this section$")
FOLD_START = """\
```{raw} html
<details class="details-fold checks-fold"><summary>Checks of this section: what defends its \
verdicts</summary>
```"""
FOLD_END = """\
```{raw} html
</details>
```"""
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
UNCONFIRMED = "(This was not repeated with other random seeds and another rounding of numbers yet.)"


def arrange(cell: NotebookNode, reported: Callable[[Sequence[str]], str]) -> list[str]:
    """Turn what a cell's outputs say of themselves into what the page needs; return what follows.

    A figure gets its name, caption and alt text in the terms of MyST-NB. Below the cell follow the
    lines of its checks, what made its figure, and what it reported, which `reported` renders.
    """
    outputs, checks, below = [], [], []
    for output in cell.get("outputs", []):
        about = output.get("metadata", {}).pop(ABOUT, {})
        text = str(output.get("data", {}).get("text/html", ""))
        if "figure" in about:
            figure = cell.metadata.setdefault("mystnb", NotebookNode())
            figure.image = {"alt": about["alt"]}
            figure.figure = {"name": about["figure"]}
        if "caption" in about:
            cell.metadata.mystnb.figure["caption"] = output.data["text/markdown"]
        elif "check" in about:
            checks.append(text)
        elif "measures" in about:
            below.append(reported(about["measures"]))
        elif text.startswith(FOLD_OPENING):
            below.append(text)
        else:
            outputs.append(output)
    if cell.cell_type == "code":
        cell.outputs = outputs
    return ["\n".join(checks), *below] if checks else below


def fold_checks(cells: Sequence[NotebookNode]) -> list[NotebookNode]:
    """Return the cells of a page with its part *Checks of this section* behind a fold.

    Such a part runs from its heading to the next one of its level, or to the end of the page.
    """
    headed = [cell for cell in cells if cell.cell_type == "markdown"]
    if not any(CHECKS.search(heading) for x in headed for heading in HEADING.findall(x.source)):
        return [*cells]
    folded: list[NotebookNode] = []
    is_open = False
    for cell in cells:
        if cell.cell_type == "markdown" and HEADING.search(cell.source):
            pieces = HEADING.split(cell.source)
            for place, piece in enumerate(pieces):
                if place % 2 and is_open:
                    folded.append(new_markdown_cell(FOLD_END, id=f"end-{cell.id}-{place}"))
                    is_open = False
                if piece.strip():
                    folded.append(new_markdown_cell(piece.strip("\n"), id=f"{cell.id}-{place}"))
                if place % 2 and CHECKS.search(piece):
                    folded.append(new_markdown_cell(FOLD_START, id=f"start-{cell.id}-{place}"))
                    is_open = True
        else:
            folded.append(cell)
    return [*folded, new_markdown_cell(FOLD_END, id="end-checks")] if is_open else folded


def quote_verdicts(text: str, page: str, findings: Mapping[str, Finding], *, up: str = "") -> str:
    """Return a page with its badges and conclusions filled in; BookError for an unknown row."""

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
