"""A frozen copy of code and data, so that an edit during a build cannot reach its chapters."""

import dataclasses
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bookbuild.settings import BuildSettings
from bookbuild.source.book import CONFIG
from bookbuild.source.chapters import Chapter

OURS = "bookbuild"  # the package that every book imports, wherever it lies
FOLDER = Path(__file__).parents[1]  # of it
SOURCES = "src"
COMPILED = shutil.ignore_patterns("__pycache__")


@contextmanager
def frozen(settings: BuildSettings, chapters: Iterable[Chapter] = ()) -> Iterator[BuildSettings]:
    """Copy src, our package, the configuration and the data; yield settings that use the copy."""
    target = settings.running / f"{os.getpid()}-sources"
    shutil.rmtree(target, ignore_errors=True)
    try:
        shutil.copytree(settings.root / SOURCES, target / SOURCES, ignore=COMPILED)
        if not (target / SOURCES / OURS).is_dir():
            shutil.copytree(FOLDER, target / SOURCES / OURS, ignore=COMPILED)
        names = {file for chapter in chapters for file in chapter.data}
        if (settings.root / CONFIG).is_file():
            names.add(CONFIG)
        for name in names:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(settings.root / name, target / name)
        yield dataclasses.replace(settings, frozen=target)
    finally:
        shutil.rmtree(target, ignore_errors=True)


def sources(settings: BuildSettings) -> Path:
    """Return the folder of the sources a build executes."""
    return (settings.frozen or settings.root) / SOURCES
