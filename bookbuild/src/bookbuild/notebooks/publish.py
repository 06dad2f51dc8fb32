"""Notebooks of readers, on the published branch: Colab opens them there, and Binder takes them."""

import ast
import copy
import html
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookbuild.errors import BookError
from bookbuild.processes import head_of, ran
from bookbuild.reporting.notebook import FOLD_OPENING
from bookbuild.results.executed import ExecutedChapter, glued_name
from bookbuild.settings import BuildSettings
from bookbuild.site.stage import INJECTED
from bookbuild.source.addresses import Addresses
from bookbuild.source.book import read_book
from bookbuild.source.chapters import BOOK, Chapter, tags

from .prose import Prose

OPENING = "launch"  # the tag of the first code cell
DOWNLOADS = re.compile(r"<dt>download</dt><dd>.*?</dd>", re.DOTALL)
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
NOTE = """\
> Made from [the chapter's source]({source}); edits belong there. The outputs stored here were \
made by the {profile} profile on {device}, seed {seed}, commit {commit}, on {date:.10}, and so \
were the numbers in the text. Running the cells uses the smoke profile, tiny sizes in seconds; \
set `profile = "paper"` for the sizes of the paper."""


def write_branch(
    out: Path,
    chapters: Iterable[Chapter],
    entries: Mapping[str, ExecutedChapter],
    settings: BuildSettings,
) -> None:
    """Write the tree of the published branch: executed notebooks and the licence.

    Raises BookError where the folder is not empty, and where files were changed since the commit,
    which is the one that the notebooks install.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BookError(f"{out} is not an empty folder: name a new folder for the notebooks.")
    root, commit = settings.root, committed(settings.root)
    addresses = Addresses.read(root)
    pins = (root / "requirements.lock").read_text(encoding="utf-8").splitlines()
    lacking = tuple(f"{name}==" for name in read_book(root).colab)
    # what pip installs: the book, and packages in folders of it
    beside = sorted(f"./{path.parent.name}" for path in root.glob("*/pyproject.toml"))
    opening = COLAB_OPENING.format(
        folder=f"{addresses.name}-{commit[:12]}",
        repository=addresses.repository,
        commit=commit,
        requirements=", ".join(f'"{pin}"' for pin in pins if pin.startswith(lacking)),
        folders=", ".join(f'"{name}"' for name in (".", *beside)),
    )
    by_name = {chapter.name: chapter for chapter in chapters}

    def link(name: str) -> str:
        return addresses.colab(name) if name in by_name else addresses.source(name)

    for name, chapter in by_name.items():
        entry, path = entries[name], out / BOOK / f"{name}.ipynb"
        note = NOTE.format(source=addresses.source(name, commit), **entry.origin)
        code = (cell for cell in entry.notebook.cells if cell.cell_type == "code")
        executed = [cell for cell in code if INJECTED not in tags(cell)]
        prose = Prose(link, dict(_numbers(executed)))
        cells = [
            new_markdown_cell(note, id="note"),
            new_code_cell(opening, id=OPENING, metadata={"tags": [OPENING]}),
            *_cells(chapter, executed, prose),
        ]
        kernel = {"kernelspec": chapter.notebook.metadata["kernelspec"]}
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(new_notebook(cells=cells, metadata=kernel), path)
    shutil.copy(root / "LICENSE", out)


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


def _cells(
    chapter: Chapter, executed: Iterable[NotebookNode], prose: Prose
) -> Iterator[NotebookNode]:
    """Yield the cells of a chapter with plain prose, and with the outputs of executed ones."""
    outputs, folder = iter(executed), chapter.name.rpartition("/")[0]
    for cell in chapter.notebook.cells:
        if cell.cell_type == "code":
            yield _code(cell, next(outputs))
        else:
            yield new_markdown_cell(prose.plain(cell.source, folder), id=cell.id)


def _code(cell: NotebookNode, executed: NotebookNode) -> NotebookNode:
    """Return a code cell for a reader."""
    names = tags(cell)
    shown = new_code_cell(cell.source, id=cell.id, metadata={"tags": names} if names else {})
    alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
    shown.execution_count = executed.execution_count
    shown.outputs = [_output(item, alt) for item in executed.outputs if not glued_name(item)]
    return shown


def _output(output: NotebookNode, alt: str) -> NotebookNode:
    """Return an output that reads well away from the site: white paper, no dead downloads."""
    output = copy.deepcopy(output)
    data = output.get("data", {})
    if "image/svg+xml" in data:
        label = f' role="img" aria-label="{html.escape(alt)}"' if alt else ""
        opened = f'<svg style="background: #fff"{label} '
        data["image/svg+xml"] = data["image/svg+xml"].replace("<svg ", opened, 1)
    if str(data.get("text/html", "")).startswith(FOLD_OPENING):
        data["text/html"] = DOWNLOADS.sub("", data["text/html"])
    return output


def _numbers(cells: Sequence[NotebookNode]) -> Iterator[tuple[str, float | bool]]:
    """Yield the glued numbers of executed cells, by key."""
    for output in (output for cell in cells for output in cell.outputs):
        if name := glued_name(output):
            text = next(text for kind, text in output.data.items() if kind.endswith("text/plain"))
            # infinity has no literal in Python
            is_infinite = text.lstrip("-") in ("inf", "nan")
            yield name, float(text) if is_infinite else ast.literal_eval(text)
