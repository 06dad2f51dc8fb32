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
from bookbuild.source.chapters import read_chapters, read_toc
from bookbuild.source.citation import SOURCE

from .crate import write_crate
from .metadata import APPENDIX, CODEMETA, ZENODO, artifact_appendix, codemeta, zenodo

SITE, NOTEBOOKS, CHANGES = "site.zip", "notebooks", "CHANGELOG.md"
PARTS = {
    RESULTS: "What chapters measured and computed: numbers only, with a manifest",
    f"{RESULTS}.sha256": "The SHA-256 of the results",
    SITE: "The site, to be unpacked and read without a server",
    APPENDIX: "Artifact appendix: hardware, minutes, a command for each claim",
    SOURCE: "How to cite",
    CODEMETA: "The book as CodeMeta describes software",
    ZENODO: "The book as Zenodo describes an upload",
    CHANGES: "What has changed",
}


def release(settings: Settings, display: Display, tell: Callable[[str], None]) -> Path:
    """Build the book and write the release's folder; raise BookError where that fails.

    The tree has no uncommitted change, for notebooks and provenance name the commit.
    """
    committed(settings.root)
    folder = settings.build / "release"
    shutil.rmtree(folder, ignore_errors=True)
    chapters = read_chapters(settings.root, read_toc(settings.root))
    result = build_book(settings, display, tell)
    found, executed = run_chapters(chapters, settings, display, tell)
    entries = found | executed
    write_branch(folder / NOTEBOOKS, chapters, entries, settings)
    write_archive(folder / RESULTS, chapters, settings)
    shutil.make_archive(
        str((folder / SITE).with_suffix("")), "zip", settings.site.parent, settings.site.name
    )
    for name in (SOURCE, CHANGES):
        shutil.copy2(settings.root / name, folder / name)
    for name, described in ((CODEMETA, codemeta(settings.root)), (ZENODO, zenodo(settings.root))):
        text = json.dumps(described, indent=2, ensure_ascii=False) + "\n"
        (folder / name).write_text(text, encoding="utf-8")
    files = [path for path in sorted(folder.iterdir()) if path.is_file()]
    costs = row_costs(settings, chapters)
    text = artifact_appendix(settings, entries, result.findings, files, costs)
    (folder / APPENDIX).write_text(text, encoding="utf-8")
    write_crate(folder, settings, entries, chapters, PARTS)
    shutil.make_archive(str(folder), "zip", folder)  # whole, as a stranger gets it
    return folder
