"""The stage, everything the site is built from: executed notebooks, prose, verdicts, assets."""

import posixpath
import re
import shutil
from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from pathlib import Path

import nbformat
import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from bookbuild.execution.runs import remark
from bookbuild.ledger.claims import Finding
from bookbuild.ledger.pages import verdicts_below
from bookbuild.ledger.templates import measure_anchor, render
from bookbuild.reporting.measures import Measure
from bookbuild.reporting.notebook import ABOUT, FIGURES_FOLDER
from bookbuild.results.executed import ExecutedChapter
from bookbuild.settings import BuildSettings
from bookbuild.source.addresses import Addresses
from bookbuild.source.book import CITATION, names, read_book, read_citation, read_config
from bookbuild.source.chapters import BOOK, Chapter, figure_name, is_notebook

from .cells import add_below, arrange, fold_checks, quote_verdicts
from .numbers import executed_page, numbers_of, quote_numbers
from .pieces import DATA, GENERATED, JudgedBook, write_claim_pages, write_ledger, write_pieces
from .scripts import join_all

LOOK = Path(__file__).with_name("look")  # styles, scripts, fonts and templates of every book
SMOKE_NOTE = "Made by the smoke profile, at reduced sizes: no claim is judged here."
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
LINK = re.compile(r"(?<=\]\()([^)\s#:]+)\.md(?=[)#\s])")


def write_stage(settings: BuildSettings, judged: JudgedBook) -> None:
    """Write the stage anew."""
    toc, chapters, entries, findings, records, _ = judged
    root, stage = settings.root, settings.stage
    shutil.rmtree(stage, ignore_errors=True)
    book = stage / BOOK
    shutil.copytree(LOOK, book)
    shutil.copytree(root / BOOK, book, ignore=_executable, dirs_exist_ok=True)
    (stage / "_toc.yml").write_text(yaml.safe_dump(toc, sort_keys=False), encoding="utf-8")
    _write_config(settings)
    shutil.copy2(root / CITATION, stage / CITATION)
    write_ledger(stage / DATA, findings, records)
    write_claim_pages(stage, findings)
    join_all(book / "_static")
    names = {chapter.name for chapter in chapters}
    rows = {finding.claim.id: finding for finding in findings}
    numbers = numbers_of(entries.values())

    def fill(text: str, page: str) -> str:
        """Return the text of a page with numbers, verdicts, and links to staged notebooks."""
        text = relink(text, posixpath.dirname(page), names)
        text = quote_numbers(text, page, numbers)
        return quote_verdicts(text, page, rows, up="../" * page.count("/"))

    for path in book.rglob("*.md"):
        name = path.relative_to(book)
        text = fill(path.read_text(encoding="utf-8"), name.as_posix())
        text += f"\n{citation(root, name.with_suffix('').as_posix())}"
        path.write_text(text, encoding="utf-8")
    for chapter in chapters:
        entry, path = entries[chapter.name], book / f"{chapter.name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        below = verdicts_below(findings, chapters, "../" * chapter.name.count("/"))
        footer = render("made_by.html", origin=entry.origin)
        last = (citation(root, chapter.name), remark(chapter, settings), footer)
        page = _page(chapter, entry, partial(fill, page=chapter.name), below, findings)
        page.cells.append(new_markdown_cell("\n\n".join(filter(None, last)), id="made-by"))
        nbformat.write(page, path)
        # Here other pages can include them.
        entry.write_figures(book / GENERATED / FIGURES_FOLDER / chapter.name)
    write_pieces(book, root, judged)


def relink(text: str, folder: str, names: Set[str]) -> str:
    """Return a text whose links to chapters name the staged notebooks, not the sources."""

    def swap(match: re.Match[str]) -> str:
        name = posixpath.normpath(posixpath.join(folder, match[1]))
        return f"{match[1]}.ipynb" if name in names else match[0]

    return LINK.sub(swap, text)


def _page(
    chapter: Chapter,
    entry: ExecutedChapter,
    fill: Callable[[str], str],
    below: Mapping[str, str],
    findings: Sequence[Finding],
) -> NotebookNode:
    """Return a chapter with outputs, and with an anchor for each measure.

    `fill` writes verdicts into its prose. `below` has what stands below figures and statements of
    the paper, by their anchors. `findings` are all rows of the ledger.
    """
    up, measures = "../" * chapter.name.count("/"), entry.measures

    def reported(names: Sequence[str]) -> str:
        about = [
            (name, Measure.of(measures[name]), [f for f in findings if f.claim.measure == name])
            for name in names
        ]
        return render("reported.html", measures=about, up=up)

    notebook = executed_page(chapter, entry.notebook)
    cells: list[NotebookNode] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = add_below(fill(cell.source), below)
        abouts = [output.get("metadata", {}).get(ABOUT, {}) for output in cell.get("outputs", [])]
        if here := [name for about in abouts for name in about.get("measures", [])]:
            anchors = (f'<div class="anchor" id="{measure_anchor(name)}"></div>' for name in here)
            cells.append(new_markdown_cell("\n".join(anchors), id=f"anchor-{cell.id}"))
        following = arrange(cell, reported)
        cells.append(cell)
        if verdicts := below.get(figure_name(cell)):
            cells.append(new_markdown_cell(verdicts, id=f"verdicts-{cell.id}"))
        # In the cell's outputs a fold would become a second figure of the same name.
        for text in following:
            cells.append(new_markdown_cell(text, id=f"fold-{cell.id}-{len(cells)}"))
    notebook.cells = fold_checks(cells)
    return notebook


def citation(root: Path, page: str) -> str:
    """Return the box that says how a page is cited, such as beyond/01_square; empty without one."""
    source, book = root / BOOK / f"{page}.md", read_book(root)
    folder, _, name = page.rpartition("/")
    if folder not in book.cited or not source.is_file():
        return ""
    title = TITLE.search(source.read_text(encoding="utf-8"))
    cited, addresses = read_citation(root), Addresses.find(root)
    return render(
        "cite.md",
        authors=names(cited),
        book=cited["title"],
        key=f"{book.package}-{name.lstrip('0123456789_').replace('_', '-')}",
        number=".".join(book.chapter_number(page)),
        title=title[1] if title else name,
        url=f"{addresses.site}{BOOK}/{page}.html" if addresses else "",
        version=cited["version"],
        year=str(cited["date-released"])[:4],
    )


def _executable(folder: str, names: list[str]) -> list[str]:
    """Return the files that are not copied: chapters are staged as executed notebooks."""
    pages = (name for name in names if name.endswith(".md"))
    # notebooks beside the chapters are a reader's, see bookbuild.notebooks
    theirs = (name for name in names if name.endswith(".ipynb"))
    return [GENERATED, *theirs, *(name for name in pages if is_notebook(Path(folder, name)))]


def _write_config(settings: BuildSettings) -> None:
    """Write the configuration, with a banner on every page of the smoke profile."""
    config = read_config(settings.root)
    config["author"] = "; ".join(names(read_citation(settings.root)))
    options = config["sphinx"]["config"]
    addresses = Addresses.find(settings.root)
    if addresses is None:
        config["html"]["use_edit_page_button"] = False
    else:
        options["html_baseurl"] = addresses.site
        config["repository"]["url"] = addresses.repository
    if addresses is None or not (settings.root / "pyproject.toml").is_file():
        del config["launch_buttons"]  # Colab and Binder would have nothing to install
    if settings.profile == "smoke":
        config["html"]["announcement"] = SMOKE_NOTE
    path = settings.stage / "_config.yml"
    path.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
