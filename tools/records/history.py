"""Trees of earlier commits, unpacked where they have the code that a record is about."""

import io
import shutil
import subprocess
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from bookbuild.errors import BookError
from bookbuild.results.keys import chapter_fingerprint
from bookbuild.schema import load
from bookbuild.settings import Settings
from bookbuild.source.book import CONFIG, SECTION
from bookbuild.source.chapters import read_chapter

MOST = 50  # commits back that are looked at
TREE = ("src", "book", "data", "proofs", "_toc.yml", CONFIG)


class Made(NamedTuple):
    """A chapter as a record knows it: its name, and the fingerprint of its code."""

    chapter: str
    fingerprint: str


@contextmanager
def trees(
    settings: Settings, wanted: set[Made], named: Iterable[str]
) -> Iterator[dict[Made, Path]]:
    """Yield a tree of a commit that has the code of a record, for each where one does.

    Commits that records name are looked at first, then the last ones.
    """
    folder = settings.build / "carry"
    shutil.rmtree(folder, ignore_errors=True)
    found: dict[Made, Path] = {}
    try:
        last = _git(settings.root, "log", f"-{MOST}", "--format=%h").decode().split()
        for commit in dict.fromkeys([*_known(settings.root, named), *last]):
            if wanted <= found.keys():
                break
            root = folder / commit
            content = io.BytesIO(
                _git(settings.root, "archive", commit, *_kept(settings.root, commit))
            )
            with tarfile.open(fileobj=content) as archive:
                archive.extractall(root, filter="data")
            _tell_of_the_book(root, settings.root / CONFIG)
            found |= {made: root for made in wanted - found.keys() if _has(root, made)}
            if root not in found.values():
                shutil.rmtree(root)
        yield found
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _known(root: Path, commits: Iterable[str]) -> Iterator[str]:
    """Yield those of some commits that the history here has."""
    for commit in commits:
        with suppress(BookError):
            yield _git(root, "rev-parse", "--short", f"{commit}^{{commit}}").decode().strip()


def _tell_of_the_book(root: Path, current: Path) -> None:
    """Give a tree today's configuration if its own says nothing to the builder, as older ones."""
    config = root / CONFIG
    if config.is_file() and SECTION not in load(config, CONFIG):
        shutil.copy2(current, config)


def _kept(root: Path, commit: str) -> list[str]:
    """Return the parts of the tree that a commit has."""
    return _git(root, "ls-tree", "--name-only", commit, *TREE).decode().split()


def _git(root: Path, *arguments: str) -> bytes:
    run = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
    if run.returncode:
        raise BookError(f"git {arguments[0]} failed: {run.stderr.decode().strip()}.")
    return run.stdout


def _has(root: Path, made: Made) -> bool:
    try:
        return (
            chapter_fingerprint(read_chapter(root, made.chapter), Settings(root))
            == made.fingerprint
        )
    except BookError:  # there was no such chapter
        return False
