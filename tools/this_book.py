"""The chapters and the ledger of this repository, each read once in a process."""

import ast
from functools import cache
from pathlib import Path

from bookbuild.ledger.claims import Claim, read_claims
from bookbuild.source.chapters import Chapter, read_chapters, read_toc

ROOT = Path(__file__).parents[1]


@cache
def chapters() -> list[Chapter]:
    """The chapters in the order of the table of contents; to be read only."""
    return read_chapters(ROOT, read_toc(ROOT))


def read_outside(chapter: Chapter, name: str, *functions: str) -> list[str]:
    """The cells of a chapter that read a name, and do not only hand it to one of the functions."""
    found = []
    for cell in chapter.code:
        nodes = list(ast.walk(ast.parse(cell.source)))
        calls = (n for n in nodes if isinstance(n, ast.Call) and ast.unparse(n.func) in functions)
        handed = {id(argument) for call in calls for argument in call.args}
        named = (n for n in nodes if isinstance(n, ast.Name) and n.id == name)
        if any(not isinstance(n.ctx, ast.Store) and id(n) not in handed for n in named):
            found.append(cell.source)
    return found


@cache
def claims() -> dict[str, Claim]:
    """The rows of the ledger by id."""
    return {row.id: row for row in read_claims(ROOT, [chapter.name for chapter in chapters()])}
