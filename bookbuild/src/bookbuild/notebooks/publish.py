"""Notebooks on the published branch, or beside the chapters."""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat

from bookbuild.errors import BookError
from bookbuild.processes import head_of, ran
from bookbuild.results.executed import Entry
from bookbuild.settings import Settings
from bookbuild.source.addresses import NOTEBOOKS_BRANCH, Addresses
from bookbuild.source.book import read_book, read_config
from bookbuild.source.chapters import BOOK, Chapter

from .prose import Prose, read_citations
from .reader import Stored, reader_notebook

COLAB_OPENING = """\
# On Colab: fetch this book at the commit of this page and install it. Elsewhere: nothing.
import os
import subprocess
import sys

if "COLAB_RELEASE_TAG" in os.environ:
    book = os.path.expanduser("~/{folder}")
    install = [sys.executable, "-m", "pip", "install", "--quiet"]
    if not os.path.isdir(book):
        subprocess.run(["git", "clone", "--quiet", "{repository}", book], check=True)
    subprocess.run(["git", "-C", book, "checkout", "--quiet", "{commit}"], check=True)
    subprocess.run([*install, {requirements}], check=True)
    os.chdir(book)
    subprocess.run([*install, "--no-deps", {folders}], check=True)"""
README = """\
# Executed notebooks

Made from [{addresses.branch}]({addresses.repository}) at commit `{commit}` by
`python -m bookbuild notebooks --profile {settings.profile} --device {settings.device}`; nothing
here is edited by hand. The branch `{branch}` is replaced at each publication.

{rows}
"""


def write_branch(
    out: Path, chapters: Iterable[Chapter], entries: Mapping[str, Entry], settings: Settings
) -> None:
    """Write the tree of the published branch: executed notebooks, a README, the licence.

    Raises BookError where the folder is not empty, and where files were changed since the commit,
    which is the one that the notebooks install.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BookError(f"{out} is not an empty folder: name a new folder for the notebooks.")
    commit = committed(settings.root)
    addresses = Addresses.read(settings.root)
    pins = (settings.root / "requirements.lock").read_text(encoding="utf-8").splitlines()
    lacking = tuple(f"{name}==" for name in read_book(settings.root).colab)
    opening = COLAB_OPENING.format(
        folder=f"{addresses.name}-{commit[:12]}",
        repository=addresses.repository,
        commit=commit,
        requirements=", ".join(f'"{pin}"' for pin in pins if pin.startswith(lacking)),
        folders=", ".join(f'"{name}"' for name in _packages(settings.root)),
    )
    known = {chapter.name: chapter for chapter in chapters}

    def link(name: str) -> str:
        return addresses.colab(name) if name in known else addresses.source(name)

    prose = Prose(link, **_read_by_all(settings.root))
    for name, chapter in known.items():
        stored = Stored.of_entry(entries[name])
        source = addresses.source(name, commit)
        _write(out, chapter, stored, opening=opening, prose=prose, source=source)
    rows = (
        f"- [{chapter.title}]({BOOK}/{name}.ipynb) · [Colab]({addresses.colab(name)})"
        for name, chapter in known.items()
    )
    told = {"addresses": addresses, "settings": settings, "branch": NOTEBOOKS_BRANCH}
    readme = README.format(commit=commit, rows="\n".join(rows), **told)
    (out / "README.md").write_text(readme, encoding="utf-8")
    shutil.copy(settings.root / "LICENSE", out)


def write_beside(chapters: Iterable[Chapter], published: str | None, root: Path) -> dict[str, bool]:
    """Write a notebook beside each chapter; return for each whether it has stored outputs.

    They come from the published branch at a commit of the local repository, wherever the code of
    the chapter is still the one that made them.
    """
    addresses = Addresses.find(root)
    known = {chapter.name: chapter for chapter in chapters}
    shared = _read_by_all(root)

    def source(name: str, up: str) -> str:
        return addresses.source(name) if addresses else f"{up}{name}.md"

    found: dict[str, bool] = {}
    for name, chapter in known.items():
        stored = _published(published, name, root) if published else None
        if stored and not stored.fits(chapter):
            stored = None
        up = "../" * name.count("/")

        def link(other: str, up: str = up) -> str:
            return f"{up}{other}.ipynb" if other in known else source(other, up)

        prose = Prose(link, **shared)
        _write(root, chapter, stored, opening="", prose=prose, source=source(name, up))
        found[name] = stored is not None
    return found


def _published(commit: str, name: str, root: Path) -> Stored | None:
    """Return what the published branch stores for a chapter, or None where it has none."""
    done = ran(["git", "show", f"{commit}:{BOOK}/{name}.ipynb"], cwd=root)
    if done.returncode:
        return None
    return Stored.of_notebook(nbformat.reads(done.stdout, as_version=4))


def committed(root: Path) -> str:
    """Return the commit of a working tree; raise BookError unless all files are committed."""
    head, why = head_of(root)
    if not head:
        raise BookError(f"The notebooks install a commit of this book, and it has none: {why}.")
    if ran(["git", "status", "--porcelain"], cwd=root).stdout.strip():
        raise BookError(
            "The notebooks install the last commit, and files have changed since: commit them "
            "first."
        )
    return head


def _read_by_all(root: Path) -> dict[str, Any]:
    """Return the citations of a book, and the extensions of MyST that its pages use."""
    return {
        "citations": read_citations(root / BOOK / "references.bib"),
        "extensions": tuple(read_config(root)["parse"]["myst_enable_extensions"]),
    }


def _packages(root: Path) -> list[str]:
    """Return the folders of a book that pip installs: its root, and packages beside its own."""
    beside = sorted(path.parent.name for path in root.glob("*/pyproject.toml"))
    return [".", *(f"./{name}" for name in beside)]


def _write(
    out: Path, chapter: Chapter, stored: Stored | None, *, opening: str, prose: Prose, source: str
) -> None:
    """Write the notebook of a chapter below a folder; its prose gets the numbers of its outputs."""
    path = out / BOOK / f"{chapter.name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    prose = replace(prose, numbers=stored.numbers if stored else {})
    made = reader_notebook(chapter, stored, opening=opening, prose=prose, source=source)
    nbformat.write(made, path)
