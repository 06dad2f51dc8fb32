"""One folder with everything that a release contains."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from bookbuild.costs import row_costs
from bookbuild.execution.display import Display
from bookbuild.notebooks.publish import committed, write_branch
from bookbuild.pipeline import build_book, run_chapters
from bookbuild.results.archive import NAME as RESULTS
from bookbuild.results.archive import write_archive
from bookbuild.settings import Settings
from bookbuild.site import browser
from bookbuild.site.pdf import write_pdf
from bookbuild.source.chapters import listed_files, read_chapters, read_toc
from bookbuild.source.citation import SOURCE

from . import appendix, crate
from .metadata import CODEMETA, ZENODO, codemeta, zenodo

SITE, NOTEBOOKS, PDF = "site.zip", "notebooks", "book.pdf"
CHANGES = "CHANGELOG.md"
PARTS = {
    RESULTS: "What chapters measured and computed: numbers only, with a manifest",
    f"{RESULTS}.sha256": "The SHA-256 of the results",
    SITE: "The site, to be unpacked and read without a server",
    PDF: "The site in one file",
    appendix.NAME: "Artifact appendix: hardware, minutes, a command for each claim",
    SOURCE: "How to cite",
    CODEMETA: "The book as CodeMeta describes software",
    ZENODO: "The book as Zenodo describes an upload",
    CHANGES: "What has changed",
}


def release(settings: Settings, display: Display, tell: Callable[[str], None]) -> Path:
    """Build the book and write the release's folder; raise BookError where that fails.

    The tree has no uncommitted change, for notebooks and provenance name the commit. Without a
    browser there is no PDF, and a line says so.
    """
    committed(settings.root)
    folder = settings.build / "release"
    shutil.rmtree(folder, ignore_errors=True)
    toc = read_toc(settings.root)
    chapters = read_chapters(settings.root, toc)
    result = build_book(settings, display, tell)
    found, made = run_chapters(chapters, settings, display, tell)
    entries = found | made
    write_branch(folder / NOTEBOOKS, chapters, entries, settings)
    write_archive(folder / RESULTS, chapters, settings)
    shutil.make_archive(
        str((folder / SITE).with_suffix("")), "zip", settings.site.parent, settings.site.name
    )
    if browser.program() is None:
        tell("no PDF is made, because no browser is installed that could print it")
    else:
        pages = [f"{name}.html" for name in listed_files(toc)]
        write_pdf(settings.site, pages, folder / PDF)
    for name in (SOURCE, CHANGES):
        shutil.copy2(settings.root / name, folder / name)
    for name, said in ((CODEMETA, codemeta(settings.root)), (ZENODO, zenodo(settings.root))):
        text = json.dumps(said, indent=2, ensure_ascii=False) + "\n"
        (folder / name).write_text(text, encoding="utf-8")
    sizes = {x.name: x.stat().st_size for x in sorted(folder.iterdir()) if x.is_file()}
    costs = row_costs(settings, chapters)
    text = appendix.artifact_appendix(settings, entries, result.findings, sizes, costs)
    (folder / appendix.NAME).write_text(text, encoding="utf-8")
    files = {name: text for name, text in PARTS.items() if (folder / name).is_file()}
    crate.write_crate(folder, settings, entries, chapters, files)
    shutil.make_archive(str(folder), "zip", folder)  # whole, as a stranger gets it
    return folder
