"""Notebooks of readers: on the published branch, where Colab opens them, and to be downloaded.

The book's MyST prose becomes plain Markdown, as Colab and JupyterLab render it. Directives, targets
and running text are told apart line by line. In running text, one pattern finds roles and links; it
passes over code, formulas, images and escaped characters.
"""

import copy
import html
import json
import posixpath
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

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
from bookbuild.source.chapters import BOOK, INJECTED, Chapter, tags

FENCE = re.compile(r"(?P<margin>[ >]*(?:[-*+] +)?)(?P<fence>`{3,}|:{3,})(?P<info>\{.*|[^`]*)")
DIRECTIVE = re.compile(r"\{([\w:+-]+)\}\s*(.*)")
OPTION = re.compile(r"\s*:[\w-]+:.*")
TARGET = re.compile(r"\([\w-]+\)=\s*")
KEPT = r"\\.|\$\$(?:\\.|[^$\\])+\$\$|\$(?:\\.|[^$\\])+\$|!\[[^\]]*\]\([^)]*\)"
INLINE = re.compile(
    r"\{(?P<role>[A-Za-z_:+-]+)\}(?P<ticks>`+)(?!`)(?P<content>.+?)(?<!`)(?P=ticks)(?!`)"
    rf"|(?<!`)(?P<code>`+)(?!`).+?(?<!`)(?P=code)(?!`)|{KEPT}"
    rf"|\[(?P<text>(?>`[^`]+`|{KEPT}|[^\[\]])*)\]"
    r"\((?P<address><[^<>\n]*>|[^\s()]*)(?P<title>\s[^()]*)?\)",
    re.DOTALL,
)
PAGE = re.compile(r"([^:#]+)\.md(?:#.*)?")  # the address of another page, with or without a label
NEXT_LINE = re.compile(r"\n[>\s]*")
TITLE_TARGET = re.compile(r"\s*<[^>]*>$")
CODE = ("code", "code-block", "sourcecode")
ON_THE_PAGE = ("include", "figure", "image", "bibliography", "concluded")
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


@dataclass(frozen=True)
class Prose:
    """What prose refers to: pages by name, of which `link` returns the address."""

    link: Callable[[str], str]

    def plain(self, text: str, folder: str) -> str:
        """Return a text of a folder of the book with roles, directives and links resolved."""
        return "\n".join(self._lines(text.splitlines(), folder))

    def _lines(self, lines: list[str], folder: str) -> Iterator[str]:
        running: list[str] = []
        place = 0
        while place < len(lines):
            opening = FENCE.fullmatch(lines[place])
            if not opening:
                if not TARGET.fullmatch(lines[place]):
                    running.append(lines[place])
                place += 1
                continue
            yield from self._running(running, folder)
            running.clear()
            margin, fence = re.sub(r"[-*+]", " ", opening["margin"]), opening["fence"]
            ends = range(place + 1, len(lines))
            end = next((n for n in ends if lines[n].strip(" >") == fence), len(lines))
            body = [line.removeprefix(margin) for line in lines[place + 1 : end]]
            directive = DIRECTIVE.fullmatch(opening["info"].strip())
            if directive:
                texts = (n for n, x in enumerate(body) if x.strip() and not OPTION.fullmatch(x))
                body = body[next(texts, len(body)) :]
                shown = self._directive(directive[1], directive[2], body, fence, folder)
                if end + 1 < len(lines) and lines[end + 1].strip("> \t"):
                    shown.append("")  # or what follows would count as quoted
                margins = [opening["margin"], *([margin] * len(shown))]
                yield from ((m + x).rstrip() for m, x in zip(margins, shown, strict=False))
            else:
                yield from lines[place : end + 1]
            place = end + 1
        yield from self._running(running, folder)

    def _directive(
        self, name: str, title: str, body: list[str], fence: str, folder: str
    ) -> list[str]:
        """Return the lines of a directive: a quotation under its title, code or a formula."""
        if name == "raw":
            return []
        if name in ON_THE_PAGE:
            return ["*(Shown on the page of the book.)*"]
        if name == "math":
            return ["$$", *body, "$$"]
        if name in CODE:
            fence = fence.replace(":", "`")
            return [f"{fence}{title}", *body, fence]
        heading = self.plain(title, folder) or name.rpartition(":")[2].capitalize()
        quoted = self.plain("\n".join(body), folder).splitlines()
        return [f"> **{heading}.**", ">", *(f"> {line}".rstrip() for line in quoted)]

    def _running(self, lines: list[str], folder: str) -> list[str]:
        """Return running text whose roles are shown and whose links lead to pages elsewhere."""

        def show(match: re.Match[str]) -> str:
            if match["role"]:
                return self._role(match["role"], NEXT_LINE.sub(" ", match["content"]))
            if match["text"] is None:
                return match[0]
            label, address = INLINE.sub(show, match["text"]), match["address"].strip("<>")
            if address.startswith("#"):
                return label
            page = PAGE.fullmatch(unquote(address))
            target = match["address"]
            if page:
                target = self.link(posixpath.normpath(posixpath.join(folder, page[1])))
            return f"[{label}]({target}{match['title'] or ''})"

        return INLINE.sub(show, "\n".join(lines)).split("\n") if lines else []

    def _role(self, name: str, content: str) -> str:
        if name.startswith("cite"):
            return f"[{'; '.join(key.strip() for key in content.split(','))}]"
        if name == "math":
            return f"${content}$"
        return TITLE_TARGET.sub("", content)


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
