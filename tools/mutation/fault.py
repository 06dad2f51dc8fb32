"""A planted fault: one small change of one source, as a wrong implementer might have written it."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .disturbance import Disturbance

ROOT = Path(__file__).parents[2]
LINKED = ("data", "proofs", "_toc.yml", "_config.yml")  # what a chapter reads besides sources


class Stale(Exception):
    """The text that a fault changes is not there, or not there alone."""


@dataclass(frozen=True)
class Fault:
    """What is wrong, in words; where; the right text and the wrong one; the chapters it is for.

    The text is looked for in a file below the root, a module or the page of a chapter, and must be
    there exactly once: a fault that no longer fits its source is stale, and says so.
    """

    name: str
    says: str
    file: str
    old: str
    new: str
    chapters: tuple[str, ...]
    kind: str = "code"  # or what of a training is wrong: network, task, loss, gradient
    symmetry: bool = False  # whether it changes no law, so that no row may turn
    keeps: tuple[str, ...] = ()  # why statements of rows stay true, as kept.yml names it

    def changed(self, text: str) -> str:
        """The source with the fault in it. Raises Stale unless the text is there exactly once."""
        found = text.count(self.old)
        if found != 1:
            raise Stale(f"{self.name}: {self.file} has its text {found} times: {self.old!r:.60}")
        return text.replace(self.old, self.new)

    def check(self, root: Path = ROOT) -> None:
        """Raise Stale unless the fault fits its source."""
        file = root / self.file
        if not file.is_file():
            raise Stale(f"{self.name}: there is no {self.file}")
        self.changed(file.read_text(encoding="utf-8"))


def in_chapter(chapter: str, name: str, says: str, old: str, new: str) -> Fault:
    """A fault in a chapter's own code, tried in that chapter."""
    return Fault(name, says, f"book/{chapter}.md", old, new, (chapter,))


@contextmanager
def planted(
    fault: Fault | Disturbance | None, root: Path = ROOT, sizes: Iterable[Fault] = ()
) -> Iterator[Path]:
    """A folder like the root, with the fault in it; sources are copies, data are linked.

    `sizes` are changes that make the trainings smaller; they are planted beside the fault. Raises
    Stale for a fault that does not fit.
    """
    with tempfile.TemporaryDirectory(prefix="mutation-") as name:
        folder = Path(name)
        for part in ("src", "book"):
            shutil.copytree(
                root / part, folder / part, ignore=shutil.ignore_patterns("__pycache__")
            )
        for part in LINKED:
            (folder / part).symlink_to(root / part)
        for change in (*sizes, *([fault] if isinstance(fault, Fault) else ())):
            change.check(folder)
            file = folder / change.file
            file.write_text(change.changed(file.read_text(encoding="utf-8")), encoding="utf-8")
        yield folder
