"""The verdicts of this machine, for the page that sets machines side by side."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

from bookbuild.errors import BookError
from bookbuild.ledger.claims import judge, read_claims
from bookbuild.ledger.machines import FOLDER
from bookbuild.reporting import provenance
from bookbuild.results import executed
from bookbuild.results.keys import chapter_key
from bookbuild.results.machine import gpu, machine_name
from bookbuild.results.store import write_whole
from bookbuild.settings import Settings
from bookbuild.source.chapters import read_chapters, read_toc


def write_machine(settings: Settings) -> Path:
    """Judge the chapters as this machine has executed them, and write its report.

    Raises BookError where a chapter has not been executed here in the paper profile.
    """
    chapters = read_chapters(settings.root, read_toc(settings.root))
    entries = {one.name: executed.find(settings, chapter_key(one, settings))[0] for one in chapters}
    missing = [name for name, entry in entries.items() if entry is None]
    if missing:
        raise BookError(
            f"{len(missing)} chapters have not been executed on this machine: run make reproduce "
            "first."
        )
    claims = read_claims(settings.root, list(entries))
    measures = {name: entry.measures for name, entry in entries.items() if entry}
    on = f"{machine_name()}, {gpu()}" if settings.device == "cuda" else machine_name()
    report = {
        "machine": on,
        "device": settings.device,
        "commit": provenance.commit(settings.root),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": provenance.versions(),
        "verdicts": {
            finding.claim.id: finding.verdict
            for finding in judge(claims, measures, judged=settings.profile == "paper")
            if finding.claim.expectation is not None
        },
    }
    path = settings.root / FOLDER / f"{re.sub(r'[^a-z0-9]+', '-', on.lower()).strip('-')}.json"
    write_whole(path, (json.dumps(report, indent=1, ensure_ascii=False) + "\n").encode())
    return path
