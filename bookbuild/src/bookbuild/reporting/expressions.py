"""Numbers in prose: expressions in a role, which a chapter's kernel evaluates.

A sentence of a chapter quotes what its cells have computed:

    The head leads by at least {eval}`f"{lead.min():.1f}"` times.

JupyterLab shows the value of the role live. A build evaluates the expressions of a prose cell after
the cells above it, and writes their values into the page.
"""

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

from .measures import four_digits

TEXTS = "application/vnd.bookbuild.texts+json"  # the output that carries the values
TAG = "expressions"  # of the hidden cells that a build adds
ROLE = re.compile(r"(?<!`)\{eval\}(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)", re.DOTALL)
NO_NUMBER = re.compile(r"\b(?:nan|inf)\b", re.IGNORECASE)
EXPONENT = re.compile(r"(?<![\w.])\d+(?:\.\d+)?e[+-]\d+(?!\w)")
NEGATIVE = re.compile(r"(?<![\w.-])-(?=[\d.∞])")


def quoted_code(prose: str) -> list[str]:
    """Return the expressions of a text, each on one line."""
    return [" ".join(role["code"].split()) for role in ROLE.finditer(prose)]


def cell_of(prose: str) -> str:
    """Return the code that evaluates the expressions of a text; empty if it has none."""
    found = quoted_code(prose)
    lines = ["from bookbuild.reporting.expressions import tell as _tell", "", "_tell("]
    return "\n".join([*lines, *(f"    lambda: {code}," for code in found), ")"]) if found else ""


def fault(code: str) -> str:
    """Return why a text is no expression that can be evaluated; empty if it is one."""
    try:
        body = ast.parse(f"lambda: {code}", mode="eval").body
    except SyntaxError as error:
        return error.msg
    return "" if isinstance(body, ast.Lambda) else "several values need parentheses"


def signed(text: str) -> str:
    """Return a text with the signs and powers of ten that typesetters write."""
    return NEGATIVE.sub("−", powers(text))


def powers(text: str) -> str:
    """Return a text with powers of ten, or plain decimals, for numbers such as 3e-11."""
    return EXPONENT.sub(lambda number: four_digits(float(number[0])), text)


def tell(*values: Callable[[], Any]) -> None:
    """Display the values of expressions as texts; ValueError where one fails or is no number."""
    from IPython.display import display

    texts = []
    for number, value in enumerate(values, start=1):
        try:
            text = str(value())
        except Exception as error:
            raise ValueError(f"expression {number}: {type(error).__name__}: {error}") from error
        if NO_NUMBER.search(text):
            raise ValueError(f"expression {number} gives {text!r}: let the sentence say what then")
        texts.append(text)
    display({TEXTS: texts}, raw=True)


def filled(prose: str, texts: Iterator[str]) -> str:
    """Return a text with the next values in the places of its expressions."""
    return ROLE.sub(lambda _: signed(next(texts)), prose)


def place_of(page: str, prose: str, number: int) -> tuple[int, str]:
    """Return the line of a page on which an expression of a part of its prose stands, and it."""
    role = [*ROLE.finditer(prose)][number - 1]
    line = page[: page.find(prose) + role.start()].count("\n") + 1
    return line, " ".join(role["code"].split())
