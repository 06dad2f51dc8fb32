"""What code depends on: the definitions that it reaches by name, across the modules of src.

A function depends on the functions, classes and constants that it names, on those that they name,
and so on; a class counts whole. What else lies in their modules does not count. That is sound where
importing a module only defines (`tests/book/test_modules.py`); statements of a module that do
more are counted for whoever imports it. A module that is passed around, read by `getattr` or
imported by `*` counts whole as well.

The digest of a definition holds its code and that of each definition it names, but not the module
they lie in: moving a function from one module to another changes nothing. Neither does another
name for a local variable or for what a module keeps to itself, a comment, a docstring or a type.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from bookbuild.source.book import read_book

from .closure import Closure, Reached, sha256_of
from .modules import CELLS, Sources, together
from .names import ALL

__all__ = ["Reached", "reached_by", "reached_by_cells", "sha256_of"]

# where a result is kept, and where it is computed, never changes it
KEEPING = tuple(f"running.{x}" for x in ("cache", "executors", "memo", "progress", "sweep"))
# What draws, and what passes a number on, never makes one; a book names packages of its own.
SHOWING = ("matplotlib", "bookbuild")
CELLS_PLACE = f"{CELLS}:{ALL}"


def reached_by_cells(cells: Iterable[str], src: Path, *, shown: bool = True) -> Reached:
    """Return what the cells of a chapter depend on besides themselves, as it is shown.

    Otherwise return what their numbers depend on, the cells among it.
    """
    sources = Sources(src, together(cells))
    closure = Closure(sources, KEEPING if shown else _without_numbers(src), texts=shown)
    reached = closure.reached((CELLS, ALL))
    digests = {place: one for place, one in reached.digests.items() if place != CELLS_PLACE}
    return replace(reached, digests=digests) if shown else reached


def reached_by(names: Iterable[tuple[str, str]], src: Path) -> Reached:
    """Return what functions and classes depend on, each a module and a qualified name.

    Nothing of what draws or reports is followed. Where a module has no such name it counts whole.
    """
    sources = Sources(src)
    closure = Closure(sources, _without_numbers(src))
    roots = [(name, *qualified.split(".")) for name, qualified in names]
    roots = [
        root if (module := sources.find(root[0])) and root[1] in module.bound else (root[0], ALL)
        for root in roots
    ]
    return closure.reached(*roots)


def _without_numbers(src: Path) -> tuple[str, ...]:
    """Return the packages that no number comes from, as the book beside src names them too."""
    return (*KEEPING, *SHOWING, *read_book(src.parent).drawing)
