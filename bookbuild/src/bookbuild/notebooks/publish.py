"""Notebooks of readers, on the published branch: Colab opens them there, and Binder takes them."""

import copy
import html
import json
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookbuild.errors import BookError
from bookbuild.processes import head_of, ran
from bookbuild.reporting.notebook import ABOUT, FOLD_OPENING
from bookbuild.results.executed import Entries
from bookbuild.results.snapshot import SOURCES
from bookbuild.settings import BuildSettings
from bookbuild.site.numbers import executed_page, numbers_of, quote_numbers
from bookbuild.source.addresses import Addresses
from bookbuild.source.book import read_book
from bookbuild.source.cells import INJECTED, tags
from bookbuild.source.chapters import BOOK, Chapter

from .prose import Prose

OPENING = "launch"  # the tag of the first code cell
DOWNLOADS = re.compile(r"<dt>download</dt><dd>.*?</dd>", re.DOTALL)
COLAB_OPENING = """\
# Where the code of this book cannot be imported, as on Colab: fetch it at the commit of this page.
import os
import subprocess
import sys
from importlib.util import find_spec

if not all(map(find_spec, {packages})):
    book = os.path.expanduser("~/{folder}")
    if not os.path.isdir(book):
        subprocess.run(["git", "clone", "--quiet", "{repository}", book], check=True)
    subprocess.run(["git", "-C", book, "checkout", "--quiet", "{commit}"], check=True)
    install = [sys.executable, "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, {requirements}], check=True)
    os.chdir(book)
    sys.path[:0] = [os.path.join(book, folder) for folder in {folders}]"""
NOTE = """\
> Made from [a chapter of the book]({page}). The outputs stored here were \
made by the {profile} profile on {device}, seed {seed}, commit {commit}, on {date:.10}, and so \
were the numbers in the text. Running the cells uses the smoke profile, tiny sizes in seconds; \
set `profile = "paper"` for the sizes of the paper."""


def write_branch(
    out: Path,
    chapters: Sequence[Chapter],
    entries: Entries,
    settings: BuildSettings,
) -> None:
    """Write the tree of the published branch to a new folder: executed notebooks and the licence.

    The notebooks install the last commit: BookError where files were changed since.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BookError(f"{out} is not an empty folder: name a new folder for the notebooks.")
    addresses = Addresses.read(settings.root)
    names = {chapter.name for chapter in chapters}

    def link(name: str) -> str:
        return addresses.colab(name) if name in names else addresses.source(name)

    opening = _opening(settings.root, addresses, committed(settings.root))
    _write_notebooks(out / BOOK, chapters, entries, link, opening)
    shutil.copy(settings.root / "LICENSE", out)


def write_downloads(
    site: Path,
    chapters: Sequence[Chapter],
    entries: Entries,
    settings: BuildSettings,
) -> None:
    """Write the notebooks that a site's readers download, which fetch a book that is on GitHub."""
    addresses, (commit, _) = Addresses.find(settings.root), head_of(settings.root)
    base = addresses.site if addresses else ""
    opening = _opening(settings.root, addresses, commit) if addresses and commit else ""
    out = site / "_sources" / BOOK
    _write_notebooks(out, chapters, entries, lambda name: f"{base}{BOOK}/{name}.html", opening)


def _opening(root: Path, addresses: Addresses, commit: str) -> str:
    """Return the code that fetches the book, with the pinned packages that Colab lacks."""
    pins = (root / "requirements.lock").read_text(encoding="utf-8").splitlines()
    lacking = tuple(f"{name}==" for name in read_book(root).colab)
    # the sources of the book, and of packages in folders of it
    folders = [
        SOURCES,
        *sorted(f"{x.parent.name}/{SOURCES}" for x in root.glob("*/pyproject.toml")),
    ]
    packages = sorted({path.parent.name for x in folders for path in (root / x).glob("*/*.py")})
    return COLAB_OPENING.format(
        folder=f"{addresses.name}-{commit[:12]}",
        repository=addresses.repository,
        commit=commit,
        requirements=", ".join(f'"{pin}"' for pin in pins if pin.startswith(lacking)),
        packages=json.dumps(packages),
        folders=json.dumps(folders),
    )


def _write_notebooks(
    out: Path,
    chapters: Iterable[Chapter],
    entries: Entries,
    link: Callable[[str], str],
    opening: str,
) -> None:
    """Write executed chapters with plain prose and, where there is an opening, that cell first."""
    prose, numbers = Prose(link), numbers_of(entries.values())
    for chapter in chapters:
        entry, path = entries[chapter.name], out / f"{chapter.name}.ipynb"
        note = NOTE.format(page=link(chapter.name), **entry.origin)
        first = [new_code_cell(opening, id=OPENING, metadata={"tags": [OPENING]})]
        cells = [new_markdown_cell(note, id="note"), *(first if opening else ())]
        folder = chapter.name.rpartition("/")[0]
        for cell in executed_page(chapter, entry.notebook).cells:
            if cell.cell_type == "markdown":
                text = quote_numbers(cell.source, chapter.name, numbers)
                cells.append(new_markdown_cell(prose.plain(text, folder), id=cell.id))
            elif INJECTED not in tags(cell):
                shown = new_code_cell(cell.source, id=cell.id, execution_count=cell.execution_count)
                shown.metadata = NotebookNode({"tags": tags(cell)} if tags(cell) else {})
                shown.outputs = [_output(item) for item in cell.outputs]
                cells.append(shown)
        kernel = {"kernelspec": chapter.notebook.metadata["kernelspec"]}
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(new_notebook(cells=cells, metadata=kernel), path)


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


def _output(output: NotebookNode) -> NotebookNode:
    """Return an output that reads well away from the site: white paper, no dead downloads."""
    output = copy.deepcopy(output)
    data, alt = output.get("data", {}), output.get("metadata", {}).get(ABOUT, {}).get("alt", "")
    if "image/svg+xml" in data:
        label = f' role="img" aria-label="{html.escape(alt)}"' if alt else ""
        opened = f'<svg style="background: #fff"{label} '
        data["image/svg+xml"] = data["image/svg+xml"].replace("<svg ", opened, 1)
    if str(data.get("text/html", "")).startswith(FOLD_OPENING):
        data["text/html"] = DOWNLOADS.sub("", data["text/html"])
    return output
