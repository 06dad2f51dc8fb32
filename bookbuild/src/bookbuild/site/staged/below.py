"""The verdicts that are shown below each theorem of a page, by its anchor.

A statement is a directive that has a label, such as a theorem, or whatever block follows a target:

    (law)=
    The head takes a time of order N squared.
"""

import re
from collections.abc import Mapping

TARGET = r"^\([\w-]+\)=\n"
DIRECTIVE = r"^(?P<{0}>`{{3,}})\{{.*?^(?P={0})$"
STATEMENT = re.compile(
    rf"(?:{TARGET})+(?:{DIRECTIVE.format('below')}|^[^\n]+(?:\n[^\n]+)*)|{DIRECTIVE.format('alone')}",
    re.DOTALL | re.MULTILINE,
)
ANCHOR = re.compile(r"^(?:\(([\w-]+)\)=|:label: ([\w-]+))$", re.MULTILINE)


def add_below(text: str, below: Mapping[str, str]) -> str:
    """Return a text in Markdown with a block added below each statement that has one.

    Args:
        text: the Markdown of a cell.
        below: what is added, by the anchor of the statement.
    """

    def add(match: re.Match[str]) -> str:
        anchors = (target or label for target, label in ANCHOR.findall(match[0]))
        added = [below[anchor].strip() for anchor in anchors if anchor in below]
        return match[0] + "".join(f"\n\n{block}" for block in added)

    return STATEMENT.sub(add, text)
