"""A release: one folder with results, site, notebooks, and how to cite them."""

import shutil
from collections.abc import Callable
from pathlib import Path

from bookbuild.execution.display import Display
from bookbuild.notebooks.publish import committed, write_branch
from bookbuild.pipeline import build_book, run_chapters
from bookbuild.results.archive import NAME as RESULTS
from bookbuild.results.archive import write_archive
from bookbuild.settings import BuildSettings
from bookbuild.source.book import CITATION
from bookbuild.source.chapters import read_chapters, read_toc

SITE, NOTEBOOKS, CHANGES = "site.zip", "notebooks", "CHANGELOG.md"


def write_release(settings: BuildSettings, display: Display, tell: Callable[[str], None]) -> Path:
    """Build the book and write the release's folder; raise BookError where that fails.

    The tree has no uncommitted change, for notebooks and provenance name the commit.
    """
    committed(settings.root)
    folder = settings.build / "release"
    shutil.rmtree(folder, ignore_errors=True)
    chapters = read_chapters(settings.root, read_toc(settings.root))
    build_book(settings, display, tell)
    stored, executed = run_chapters(chapters, settings, display, tell)
    write_branch(folder / NOTEBOOKS, chapters, stored | executed, settings)
    write_archive(folder / RESULTS, chapters, settings)
    shutil.make_archive(str(folder / "site"), "zip", settings.site.parent, settings.site.name)
    for name in (CITATION, CHANGES):
        shutil.copy2(settings.root / name, folder / name)
    shutil.make_archive(str(folder), "zip", folder)  # whole, as a stranger gets it
    return folder
