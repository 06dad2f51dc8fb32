"""What Sphinx has made for the build before: pages as they were are neither read nor written again.

Sphinx goes by times of modification, so a staged file with the same bytes keeps its own. What pages
say of each other may have changed; of that `sphinx_extensions.settled` takes care.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from bookbuild.results.keys import digest
from bookbuild.results.snapshot import SOURCES
from bookbuild.settings import Settings
from bookbuild.source.chapters import BOOK

from .seal import digest_of, installed

MADE = "_build"  # what Sphinx makes in the stage: pages as it read them, images, the site
MADE_BY = "made-by"  # in it, once a build has succeeded
HTML, STATIC = "html", "_static"  # the site, and what every page of it names by a checksum
# of which Sphinx knows itself which page depends on them, or none is read with them
FOLLOWED = {".md", ".ipynb", "_generated", STATIC}


def put_aside(settings: Settings) -> None:
    """Make room for a new stage."""
    shutil.rmtree(_before(settings), ignore_errors=True)
    if settings.stage.is_dir():
        settings.stage.rename(_before(settings))


def take_over(settings: Settings) -> None:
    """Let a new stage keep what was made for the one before, if that was whole and is still fit."""
    stage, before = settings.stage, _before(settings)
    mark = before / MADE / MADE_BY
    if mark.is_file() and mark.read_text(encoding="utf-8") == _made_by(settings):
        mark.unlink()  # a build that fails leaves warnings unsaid
        _forget_html(before / MADE / HTML, same_static=_static(stage) == _static(before))
        for path in _files(stage):
            old = before / path.relative_to(stage)
            if old.is_file() and old.read_bytes() == path.read_bytes():
                times = old.stat()
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        (before / MADE).rename(stage / MADE)
    shutil.rmtree(before, ignore_errors=True)


def _forget_html(html: Path, *, same_static: bool) -> None:
    """Remove the static files, which Sphinx copies anew, and all pages where these are others now.

    A page names such a file by its checksum only where it lay there before the page was written.
    """
    shutil.rmtree(html / STATIC if same_static else html, ignore_errors=True)


def keep(settings: Settings) -> None:
    """Have the next build take over what was made for this one."""
    (settings.stage / MADE / MADE_BY).write_text(_made_by(settings), encoding="utf-8")


def _before(settings: Settings) -> Path:
    return settings.stage.with_name(f"{settings.stage.name}-before")


def _made_by(settings: Settings) -> str:
    """Return a digest of what pages are read with: packages, our code, configuration, sources."""
    stage, sources = settings.stage, settings.root / SOURCES
    around = [path for path in _files(stage) if not FOLLOWED & {path.suffix, *path.parts}]
    return digest(
        {
            "packages": installed(),
            "code": digest_of(sorted(sources.rglob("*.py")), sources),
            "around": digest_of(sorted(around), stage),
        }
    )


def _static(stage: Path) -> str:
    return digest_of(sorted(filter(Path.is_file, (stage / BOOK / STATIC).rglob("*"))), stage)


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a stage, but for what Sphinx made in it."""
    for path in folder.rglob("*"):
        if path.is_file() and MADE not in path.relative_to(folder).parts:
            yield path
