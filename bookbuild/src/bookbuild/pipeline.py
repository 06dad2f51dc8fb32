"""From chapters to site and release: execute what is missing, judge the ledger, and build."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .costs import chapter_costs
from .errors import raise_if_any
from .execution.display import Display, Tell
from .execution.execute import execute_chapters, tidy
from .ledger.claims import Finding, idle, judge
from .ledger.counts import checks_of, told_checks, told_verdicts
from .ledger.evidence import read_evidence
from .notebooks import committed, write_branch, write_downloads
from .processes import head_of, locked
from .results.archive import NAME as RESULTS
from .results.archive import write_archive
from .results.executed import ExecutedChapter, find
from .results.keys import chapter_key
from .results.snapshot import frozen
from .results.store import Store
from .settings import BuildSettings
from .site.build import build_site
from .site.lint import check_book
from .site.numbers import quoted_in
from .site.pieces import CHECKS, JudgedBook, page_of
from .site.stage import write_stage
from .source.book import CITATION
from .source.chapters import Chapter, read_chapters, read_toc

SITE, NOTEBOOKS, CHANGES = "site.zip", "notebooks", "CHANGELOG.md"


@dataclass(frozen=True)
class Result:
    """What a build found: judged rows, lines about them, and how many chapters it executed."""

    findings: list[Finding]
    told: list[str]
    executed: int
    cached: int


def build_book(settings: BuildSettings, display: Display, tell: Tell) -> Result:
    """Make the site; raise BookError with every problem found, or if another build is at it."""
    lock = settings.site.parent / "lock"
    with locked(lock, f"build of the {settings.profile} profile"):
        # a slip in the sources is told before minutes are spent on the chapters
        toc, chapters, claims = check_book(settings.root)
        evidence = read_evidence(settings.root)
        stored, executed_now = run_chapters(chapters, settings, display, tell)
        entries = stored | executed_now
        reported = {name: entries[name].measures for name in sorted(entries)}
        raise_if_any(idle(claims, reported, quoted_in(settings.root, reported)))
        alone = judge(claims, reported, judged=settings.judged)
        checks = checks_of(reported, judged=settings.judged)
        findings, records = evidence.weigh(alone, chapters, settings)
        write_stage(settings, JudgedBook(toc, chapters, entries, findings, records, checks))
        tell("building the site")
        downloads = partial(write_downloads, chapters=chapters, entries=entries, settings=settings)
        build_site(settings, entries, downloads)
        listed = page_of(CHECKS, settings.root)
        told = [*told_verdicts(findings), *told_checks(checks, listed)]
        return Result(findings, told, len(executed_now), len(stored))


def run_chapters(
    chapters: Sequence[Chapter],
    settings: BuildSettings,
    display: Display,
    tell: Tell,
) -> tuple[dict[str, ExecutedChapter], dict[str, ExecutedChapter]]:
    """Return the entries found and the entries made now; raise BookError if a chapter failed."""
    stored: dict[str, ExecutedChapter] = {}
    missing: list[tuple[Chapter, str]] = []
    Store(settings.results).check()
    tidy(settings)
    with frozen(settings, chapters) as settings:
        for chapter in chapters:
            key = chapter_key(chapter, settings)
            entry, remark = find(settings, key)
            if remark:
                tell(remark)
            if entry:
                stored[chapter.name] = entry
            else:
                missing.append((chapter, key))
        if missing and (why := head_of(settings.root)[1]):
            tell(f"the commit of what is executed will be recorded as unknown: {why}")
        costs = chapter_costs(settings, [chapter for chapter, _ in missing])
        expected = {name: spent.seconds for name, spent in costs.items()}
        with display.opened(len(stored), expected, settings.jobs):
            executed, failures = execute_chapters(missing, settings, display)
    raise_if_any(failures)
    return stored, executed


def write_release(settings: BuildSettings, display: Display, tell: Tell) -> Path:
    """Build the book and write the release's folder, of a committed tree; else raise BookError."""
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
