"""Where a chapter runs that a reader has opened as a notebook: paths start at the book's root."""

import os
import sys
from pathlib import Path

from .notebook import OUTPUT

MARKS = ("_toc.yml", "_config.yml")


def enter_root() -> None:
    """Enter the root of the book and find its packages, in IPython alone.

    A reader's kernel begins in the folder of its notebook. A build's begins where it should.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    here = Path.cwd()
    if shell is None or OUTPUT in os.environ or all((here / mark).is_file() for mark in MARKS):
        return
    for folder in here.parents:
        if all((folder / mark).is_file() for mark in MARKS):
            os.chdir(folder)
            sys.path.insert(0, str(folder / "src"))
            return
