"""Evidence for verdicts beside a build; a book's own code has it, if it has any.

The configuration of a book may name a module, whose class `Evidence` derives from the one here.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from bookbuild.errors import BookError
from bookbuild.settings import BuildSettings
from bookbuild.source.book import CONFIG, SECTION, read_book
from bookbuild.source.chapters import Chapter

from .claims import Finding
from .records import Records


class Evidence:
    """The evidence of a book that has none; `root` is the folder of the book."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def weigh(
        self, findings: Sequence[Finding], chapters: Sequence[Chapter], settings: BuildSettings
    ) -> tuple[list[Finding], Records]:
        """Return what a build has found with the verdicts that evidence leaves, and what it says.

        Raises BookError where what is recorded was not written by the code of the evidence.
        """
        return [*findings], Records()


def read_evidence(root: Path) -> Evidence:
    """Return the evidence of a book; raise BookError where the module that it names has none."""
    if not (name := read_book(root).evidence):
        return Evidence(root)
    if str(root) not in sys.path:
        sys.path.append(str(root))  # the module may lie beside src, where it hides no other one
    try:
        evidence: Evidence = import_module(name).Evidence(root)
    except (ImportError, AttributeError) as error:
        raise BookError(f"{CONFIG}, field '{SECTION}.evidence': {error}.") from error
    return evidence
