"""The stage, everything the site is built from: executed notebooks, prose, verdicts, assets."""

import copy
import posixpath
import re
import shutil
from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import nbformat
import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from bookbuild.execution.runs import remark
from bookbuild.ledger.checks import Checks
from bookbuild.ledger.claims import Finding
from bookbuild.ledger.pages import verdicts_below
from bookbuild.ledger.records import Records
from bookbuild.ledger.templates import measure_anchor, render
from bookbuild.reporting.notebook import FIGURES_FOLDER
from bookbuild.results.executed import Entry, glued_name
from bookbuild.settings import Settings
from bookbuild.source.addresses import Addresses
from bookbuild.source.book import read_config
from bookbuild.source.chapters import BOOK, Chapter, figure_name, is_notebook, parts, tags
from bookbuild.source.citation import SOURCE, names, read_citation

from .data import FOLDER, write_claim_pages, write_ledger
from .picture import NAME, write_card
from .scripts import join_all
from .staged.below import add_below
from .staged.cells import fold_long_code, join_folds, split_reports, take_folds
from .staged.generated import write_generated
from .staged.quoted import leave_out_infinite, quote_verdicts

LOOK = Path(__file__).with_name("look")  # styles, scripts, fonts and templates of every book
INJECTED = "injected-parameters"  # the tag of the cell that papermill writes
SMOKE_NOTE = "Made by the smoke profile, at reduced sizes: no claim is judged here."
MATHJAX_FILES = ("tex-mml-chtml.js", "output/chtml/fonts/woff-v2", "input/tex/extensions")
LINK = re.compile(r"(?<=\]\()([^)\s#:]+)\.md(?=[)#\s])")


def write_stage(
    settings: Settings,
    toc: dict[str, Any],
    chapters: Sequence[Chapter],
    entries: Mapping[str, Entry],
    findings: Sequence[Finding],
    records: Records,
    checks: Checks,
) -> None:
    """Write the stage anew."""
    shutil.rmtree(settings.stage, ignore_errors=True)
    book = settings.stage / BOOK
    shutil.copytree(LOOK, book)
    shutil.copytree(settings.root / BOOK, book, ignore=_executable, dirs_exist_ok=True)
    (settings.stage / "_toc.yml").write_text(yaml.safe_dump(toc, sort_keys=False), encoding="utf-8")
    _write_config(settings)
    shutil.copy2(settings.root / SOURCE, settings.stage / SOURCE)
    write_card(book / "_static" / NAME, read_citation(settings.root)["title"], findings)
    write_ledger(settings.stage / FOLDER, findings, records)
    write_claim_pages(settings.stage, findings)
    join_all(book / "_static")
    _copy_mathjax(book / "_static" / "vendor" / "mathjax")
    generated = book / "_generated"
    generated.mkdir()
    names = {chapter.name for chapter in chapters}
    rows = {finding.claim.id: finding for finding in findings}
    for path in book.rglob("*.md"):
        folder = path.relative_to(book).parent
        text = relink(path.read_text(encoding="utf-8"), folder, names)
        up = "../" * len(folder.parts)
        name = path.relative_to(book).as_posix()
        path.write_text(quote_verdicts(text, name, rows, up=up), encoding="utf-8")
    for chapter in chapters:
        entry = entries[chapter.name]
        path = book / f"{chapter.name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        up = "../" * chapter.name.count("/")
        fill = partial(quote_verdicts, page=chapter.name, findings=rows, up=up)
        below = verdicts_below(findings, chapters, up)
        page = _page(chapter, entry, names, remark(chapter, settings), fill, below)
        if settings.profile == "smoke":
            for cell in (cell for cell in page.cells if cell.cell_type == "markdown"):
                cell.source = leave_out_infinite(cell.source, entry.measures)
        nbformat.write(page, path)
        # Here other pages can include them.
        entry.write_figures(generated / FIGURES_FOLDER / chapter.name)
    write_generated(book, settings.root, parts(toc), chapters, entries, findings, records, checks)


def graft(current: NotebookNode, executed: NotebookNode) -> NotebookNode:
    """Return the current notebook with the outputs of an executed one, matched in order.

    The cell that carries the parameters of the run is taken over, hidden behind a fold.
    """
    ran = [cell for cell in executed.cells if cell.cell_type == "code"]
    injected = [cell for cell in ran if INJECTED in tags(cell)]
    outputs = iter(cell for cell in ran if INJECTED not in tags(cell))
    grafted = copy.deepcopy(current)
    cells: list[NotebookNode] = []
    for cell in grafted.cells:
        cells.append(cell)
        if cell.cell_type != "code":
            continue
        source = next(outputs)
        cell.outputs, cell.execution_count = source.outputs, source.execution_count
        if "parameters" in tags(cell):
            cells += injected
    for cell in injected:
        cell.metadata.tags = [INJECTED, "hide-input"]
        cell.metadata.mystnb = {
            "code_prompt_show": "Parameters of this run",
            "code_prompt_hide": "Parameters of this run",
        }
    grafted.cells = cells
    return grafted


def relink(text: str, folder: Path, names: Set[str]) -> str:
    """Return a text whose links to chapters name the staged notebooks, not the sources."""

    def swap(match: re.Match[str]) -> str:
        name = posixpath.normpath((folder / match[1]).as_posix())
        return f"{match[1]}.ipynb" if name in names else match[0]

    return LINK.sub(swap, text)


def _page(
    chapter: Chapter,
    entry: Entry,
    names: Set[str],
    remark: str,
    fill: Callable[[str], str],
    below: Mapping[str, str],
) -> NotebookNode:
    """Return a chapter with outputs, an anchor above each cell that measured, a remark, origin.

    `fill` writes verdicts into its prose. `below` has what stands below figures and statements of
    the paper, by their anchors.
    """
    notebook = graft(chapter.notebook, entry.notebook)
    measures = entry.measures
    cells: list[NotebookNode] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = fill(relink(cell.source, Path(chapter.name).parent, names))
            cell.source = add_below(cell.source, below)
    shown = split_reports(notebook.cells)
    for cell in shown:
        fold_long_code(cell)
    for cell in join_folds(shown):
        glued = {glued_name(output) for output in cell.get("outputs", [])}
        # a measure over settings glues no number of its own name
        keys = [key for key in measures if key in glued or f"{key}_settings" in glued]
        if keys:
            anchors = (f'<div class="anchor" id="{measure_anchor(key)}"></div>' for key in keys)
            cells.append(new_markdown_cell("\n".join(anchors), id=f"anchor-{cell.id}"))
        cells.append(cell)
        if told := below.get(figure_name(cell)):
            cells.append(new_markdown_cell(told, id=f"verdicts-{cell.id}"))
        # In the cell's outputs the fold would become a second figure of the same name.
        for fold in take_folds(cell):
            cells.append(new_markdown_cell(fold, id=f"fold-{cell.id}-{len(cells)}"))
    last = (remark, render("made_by.html", origin=entry.origin))
    cells.append(new_markdown_cell("\n\n".join(filter(None, last)), id="made-by"))
    notebook.cells = cells
    return notebook


def _executable(folder: str, names: list[str]) -> list[str]:
    """Return the files that are not copied: chapters are staged as executed notebooks."""
    pages = (name for name in names if name.endswith(".md"))
    # notebooks beside the chapters are a reader's, see bookbuild.notebooks.publish
    theirs = (name for name in names if name.endswith(".ipynb"))
    return ["_generated", *theirs, *(name for name in pages if is_notebook(Path(folder, name)))]


def _write_config(settings: Settings) -> None:
    """Write the configuration, with a banner on every page of the smoke profile."""
    config = read_config(settings.root)
    config["author"] = "; ".join(names(read_citation(settings.root)))
    options = config["sphinx"]["config"]
    addresses = Addresses.find(settings.root)
    if addresses is None:
        config["html"]["use_edit_page_button"] = False
        del config["launch_buttons"]
    else:
        options["html_baseurl"] = addresses.site
        config["repository"]["url"] = addresses.repository
    if settings.profile == "smoke":
        config["html"]["announcement"] = SMOKE_NOTE
    path = settings.stage / "_config.yml"
    path.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")


def _copy_mathjax(target: Path) -> None:
    """Copy what formulas need, so that pages ask no other server for it."""
    package = distribution("sphinx-mathjax-offline")
    source = Path(str(package.locate_file("sphinx-mathjax-offline/static/mathjax")))
    for name in MATHJAX_FILES:
        copied = target / name
        copied.parent.mkdir(parents=True, exist_ok=True)
        if (source / name).is_dir():
            shutil.copytree(source / name, copied)
        else:
            shutil.copy2(source / name, copied)
