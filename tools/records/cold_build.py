"""How long the book takes from an empty store, chapter by chapter."""

import json
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bookbuild.execution.display import Display
from bookbuild.ledger.claims import count, judge, read_claims
from bookbuild.pipeline import run_chapters
from bookbuild.reporting import provenance
from bookbuild.results.executed import Entry
from bookbuild.results.machine import machine_name
from bookbuild.results.store import write_whole
from bookbuild.settings import Settings, core_count
from bookbuild.source.chapters import read_chapters, read_toc

FOLDER = "_build/cold_build"
RECORD = Path("cold_build.json")


def run_cold_build(settings: Settings, display: Display, tell: Callable[[str], None]) -> Path:
    """Execute every chapter in a folder of its own, with no result to start from.

    Return the path of the record. A run that was killed begins again, because it measures one go.
    Raises BookError where a chapter fails.
    """
    settings = replace(settings, folder=FOLDER, published=None)
    shutil.rmtree(settings.build, ignore_errors=True)
    chapters = read_chapters(settings.root, read_toc(settings.root, settings.part))
    started = time.monotonic()
    _, made = run_chapters(chapters, settings, display, tell)
    record = recorded(settings, made, time.monotonic() - started)
    path = settings.build / RECORD
    write_whole(path, (json.dumps(record, indent=1) + "\n").encode())
    return path


def recorded(settings: Settings, made: Mapping[str, Entry], seconds: float) -> dict[str, Any]:
    """Return what is recorded of executions that took so long in all."""
    every = read_chapters(settings.root, read_toc(settings.root))
    claims = read_claims(settings.root, [chapter.name for chapter in every])
    findings = judge(
        [claim for claim in claims if claim.chapter in made],
        {name: entry.measures for name, entry in made.items()},
        judged=settings.profile == "paper",
    )
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": provenance.commit(settings.root),
        "machine": machine_name(),
        "cores": core_count(),
        "jobs": settings.jobs,
        "profile": settings.profile,
        "device": settings.device,
        "part": settings.part,
        "seconds": round(seconds, 1),
        "chapters": {
            name: {"seconds": entry.origin["seconds"], "memory": entry.origin["memory"]}
            for name, entry in sorted(made.items())
        },
        "verdicts": count(findings),
    }
