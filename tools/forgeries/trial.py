"""One forgery tried: planted in an archive, built from, verified."""

from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from bookbuild.cli import commands
from bookbuild.errors import BookError
from bookbuild.results.archive import NAME, write_archive
from bookbuild.source.chapters import read_chapters, read_toc
from tools.toy_book import Toy

from .catalogue import MARK, Forgery

REFUSED = "No site is built from"
SHOWN = (".html", ".js", ".svg", ".ipynb", ".md")


@dataclass(frozen=True)
class Row:
    """What became of a forgery.

    Attributes:
        name: of the forgery.
        executed: whether code of the archive ran.
        reached: whether a site that was built from the archive shows it.
        found: whether `verify` ended with a sentence about it.
        said: that sentence, or the error that was none.
    """

    name: str
    executed: bool
    reached: bool
    found: bool
    said: str


def tried(forgery: Forgery, toy: Toy, folder: Path, build: Callable[[Path], None]) -> Row:
    """Return what becomes of a forgery.

    Args:
        forgery: what is planted.
        toy: a toy book that has been built, whose results are published; it stays as it is.
        folder: an empty one, for the archive.
        build: builds a new book from an archive and leaves it in `folder / "book"`.
    """
    path, witness = folder / NAME, folder / "executed"
    write_archive(path, read_chapters(toy.root, read_toc(toy.root)), toy.settings())
    forgery.plant(path, witness)
    if forgery.acts:
        _outcome(lambda: build(path))
    reached = shows(folder / "book")
    arguments = ["verify", "--device", "cpu", "--results", str(path), "--draw", "1"]
    with chdir(toy.root):
        said = _outcome(lambda: commands(arguments, standalone_mode=False))
    found = said.startswith("BookError: ")
    if forgery.drawn:  # what is inert reaches a site unless it has been found to be wrong
        refused = _outcome(lambda: _rebuilt(toy, path))
        reached |= REFUSED not in refused
    return Row(forgery.name, witness.exists(), reached, found, said.removeprefix("BookError: "))


def shows(book: Path) -> bool:
    """Return whether anything that was built holds the mark of a forgery."""
    built = (path for path in (book / "_build").rglob("*") if path.suffix in SHOWN)
    return any(MARK.encode() in path.read_bytes() for path in built)


def _rebuilt(toy: Toy, path: Path) -> None:
    with chdir(toy.root):
        commands(["build", "--device", "cpu", "--results", str(path)], standalone_mode=False)


def _outcome(action: Callable[[], object]) -> str:
    """Return how an action ended: nothing, or the error with its first and its last line."""
    try:
        action()
    except Exception as error:  # a traceback is what the drill looks for
        lines = str(error).splitlines() or [""]
        text = lines[0] if isinstance(error, BookError) else f"traceback: {lines[-1]}"
        return f"{type(error).__name__}: {text}"
    return ""
