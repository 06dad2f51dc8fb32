"""Verdicts in pages without code: badges of rows, and conclusions that their verdicts decide.

A page may show a row's badge, `{verdict}` with its id, and draw a conclusion, which is a block of
sentences, one per verdict:

    ```{concluded} id-of-a-claim
    reproduced: The head needs no help.
    contradicted: The head needs the other parameters.
    ```

The build shows the sentence of the verdict that it found, so that nobody can type it.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from bookbuild.errors import BookError
from bookbuild.ledger.claims import Finding
from bookbuild.ledger.templates import render
from bookbuild.reporting.measures import glued

BADGE = re.compile(r"\{verdict\}`([\w-]+)`")
BLOCK = re.compile(r"^```\{concluded\} ([\w -]+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"\{glue:text\}`(\w+)(?::[^`]*)?`")
SENTENCE = re.compile(r"^(reproduced|partly|contradicted|not testable here): (.+)$", re.MULTILINE)
TOY = "This page was built at toy sizes, which cannot answer this question."
SURPRISE = "This build found something else than we expected of this statement: "
UNCONFIRMED = "(This was not repeated at other first seeds and under another rounding yet.)"
ABSENT = "(in another part of the book)"


def quote_verdicts(
    text: str, page: str, findings: Mapping[str, Finding], *, up: str = "", whole: bool = True
) -> str:
    """Return a page with its badges and conclusions filled in.

    Args:
        text: the page as it is written.
        page: its name, for messages.
        findings: the rows of the ledger, judged, by their ids.
        up: what leads from the page to the folder of the book.
        whole: whether all chapters are there; a build of one part lacks the rows of others.

    Raises:
        BookError: for a row that the ledger lacks.
    """

    def rows(names: str) -> list[Finding]:
        missing = [name for name in names.split() if name not in findings]
        if missing and whole:
            raise BookError(f"{page} quotes the claim {missing[0]!r}, which is not in the ledger.")
        return [] if missing else [findings[name] for name in names.split()]

    def conclusion(match: re.Match[str]) -> str:
        found = rows(match[1])
        return f"{concluded(found, dict(SENTENCE.findall(match[2])))} {_badges(found, up)}"

    text = BLOCK.sub(conclusion, text)
    return BADGE.sub(lambda match: _badges(rows(match[1]), up), text)


def leave_out_infinite(text: str, measures: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a text in which an infinite number that it quotes is an ellipsis.

    At toy sizes a training may never come to where it is read, and "at most inf%" says nothing.
    """
    infinite = {
        name
        for key, measure in measures.items()
        for name, number in glued(key, measure["value"], measure["over"]).items()
        if math.isinf(number)
    }
    return NUMBER.sub(lambda m: "…" if m[1] in infinite else m[0], text)


def concluded(findings: Sequence[Finding], sentences: Mapping[str, str]) -> str:
    """Return what follows from rows: the sentence for their verdict, else what they state.

    Rows with different verdicts are partly reproduced together. What is only unconfirmed follows as
    from a reproduced row, and the sentence says so.
    """
    verdicts = {"reproduced" if f.unconfirmed else f.verdict for f in findings}
    if not verdicts:
        return ABSENT
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
