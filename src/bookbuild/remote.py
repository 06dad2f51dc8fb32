"""A chapter executed by a worker of a cluster, with the worker's own checkout of the book."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bookbuild.processes import ran
from bookbuild.results import executed
from bookbuild.results.keys import chapter_key
from bookbuild.settings import Settings
from bookbuild.source.chapters import read_chapters, read_toc


def execute_here(
    name: str, key: str, profile: str, seed: int, options: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Execute a chapter on this machine, a worker; return its origin and its files.

    Raises RuntimeError where the sources or versions differ, or the chapter fails.
    """
    root = Path(__file__).resolve().parents[2]
    settings = Settings(root, profile=profile, seed=seed, device=options["device"])
    chapters = {chapter.name: chapter for chapter in read_chapters(root, read_toc(root))}
    if name not in chapters or chapter_key(chapters[name], settings) != key:
        raise RuntimeError(
            "the worker has other sources or versions than this machine: install the same commit "
            "there."
        )
    arguments = {"profile": profile, "seed": seed, "jobs": 1, **options}
    given = [text for k, value in arguments.items() for text in (f"--{k}", str(value))]
    done = ran([sys.executable, "-m", "bookbuild", "chapter", *given, name], cwd=root)
    entry, _ = executed.find(settings, key)
    if done.returncode or entry is None:
        raise RuntimeError(done.stderr.strip() or f"it ended with code {done.returncode}.")
    return dict(entry.origin), dict(entry.files)
