"""How long the book takes from an empty store, chapter by chapter: python -m tools.cold_build."""

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bookbuild.cli import main
from bookbuild.cli.options import commands, run_options, settings_of, tell
from bookbuild.costs import COLD_BUILD
from bookbuild.execution.display import Display, display_of
from bookbuild.pipeline import run_chapters
from bookbuild.reporting import provenance
from bookbuild.results.machine import gpu, machine_name
from bookbuild.results.store import write_whole
from bookbuild.settings import BuildSettings, core_count
from bookbuild.source.chapters import read_chapters, read_toc

USED = ("seconds", "memory", "gpu_seconds", "gpu_memory")


def run_cold_build(settings: BuildSettings, display: Display, tell: Callable[[str], None]) -> Path:
    """Execute every chapter in a folder of its own, with no result to start from.

    Return the path of the record. A run that was killed begins again, because it measures one go.
    Raises BookError where a chapter fails.
    """
    settings = replace(settings, folder="_build/cold_build", published=None)
    shutil.rmtree(settings.build, ignore_errors=True)
    chapters = read_chapters(settings.root, read_toc(settings.root))
    started = time.monotonic()
    _, made = run_chapters(chapters, settings, display, tell)
    record = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": provenance.commit(settings.root),
        "machine": machine_name() + (f", {gpu()}" if settings.device == "cuda" else ""),
        "cores": core_count(),
        "jobs": settings.jobs,
        "profile": settings.profile,
        "device": settings.device,
        "seconds": round(time.monotonic() - started, 1),
        "chapters": {
            name: {what: entry.origin[what] for what in USED if what in entry.origin}
            for name, entry in sorted(made.items())
        },
    }
    path = settings.root / COLD_BUILD
    write_whole(path, (json.dumps(record, indent=1) + "\n").encode())
    return path


@commands.command()
@run_options
def cold_build(**options: Any) -> None:
    """Execute every chapter with no result to start from, and record how long each takes."""
    tell(
        f"what each chapter took: {run_cold_build(settings_of(**options), display_of(tell), tell)}"
    )


if __name__ == "__main__":
    main()
