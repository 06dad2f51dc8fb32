"""Where a chapter runs that a reader has opened as a notebook: paths start at the book's root."""

import os
import sys
from pathlib import Path

from .notebook import OUTPUT, notebook_shell

MARKS = ("_toc.yml", "_config.yml")


def enter_root() -> None:
    """Enter the root of the book and find its packages, in IPython alone.

    A reader's kernel begins in the folder of its notebook. A build's begins where it should.
    """
    here = Path.cwd()
    if notebook_shell() is None or OUTPUT in os.environ or _is_root(here):
        return
    if root := next(filter(_is_root, here.parents), None):
        os.chdir(root)
        sys.path.insert(0, str(root / "src"))


def _is_root(folder: Path) -> bool:
    return all((folder / mark).is_file() for mark in MARKS)
