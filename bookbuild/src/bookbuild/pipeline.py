"""From chapters to site: execute what is missing, judge the ledger, and build."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .costs import row_costs
from .errors import raise_if_any
from .execution import lock
from .execution.display import Display
from .execution.execute import execute_chapters, tidy
from .ledger.checks import amiss, checks_of
from .ledger.claims import Finding, judge, read_claims
from .ledger.counts import told_verdicts
from .ledger.evidence import Evidence, evidence_of, lowered
from .ledger.outcomes import declared, read_outcomes
from .ledger.records import Records, read_preregistration
from .processes import head_of
from .results import executed as cache
from .results.keys import chapter_fingerprint, chapter_key
from .results.snapshot import frozen
from .results.store import Store
from .settings import Settings
from .site.build import build_site
from .site.stage import write_stage
from .source.book import check_config, read_book
from .source.chapters import Chapter, read_chapters, read_toc
from .source.citation import read_citation


@dataclass(frozen=True)
class Result:
    """What a build found: judged rows, verdicts as a table, what did not hold, and seconds."""

    findings: list[Finding]
    verdicts: list[list[str]]
    amiss: list[str]
    executed: int
    seconds_executed: float
    cached: int
    seconds_cached: float


def build_book(settings: Settings, display: Display, tell: Callable[[str], None]) -> Result:
    """Make the site; raise BookError with every problem found, or if another build is at it."""
    with lock.held(settings):
        return _build(settings, display, tell)


def _build(settings: Settings, display: Display, tell: Callable[[str], None]) -> Result:
    toc = read_toc(settings.root)
    chapters = read_chapters(settings.root, toc)
    # A slip in the configuration or the ledger is told before minutes are spent on the chapters.
    read_book(settings.root)
    check_config(settings.root)
    read_citation(settings.root)
    claims = read_claims(settings.root, [chapter.name for chapter in chapters])
    preregistration = read_preregistration(settings.root)
    found, made = run_chapters(chapters, settings, display, tell)
    entries = found | made
    reported = {name: entries[name].measures for name in sorted(entries)}
    judged = settings.profile == "paper"
    alone = judge(claims, reported, judged=judged)
    checks = checks_of(reported, judged=judged)
    evidence, required = _evidence(alone, chapters, settings)
    costs = row_costs(replace(settings, profile="paper"), chapters)
    records = Records(preregistration, evidence, costs, required)
    findings = lowered(alone, evidence, required=required)
    write_stage(settings, toc, chapters, entries, findings, records, checks)
    tell("building the site")
    build_site(settings, entries)
    verdicts, not_held = told_verdicts(findings)
    executed, cached = (len(made), _seconds(made)), (len(found), _seconds(found))
    return Result(findings, verdicts, [*not_held, *amiss(checks)], *executed, *cached)


def _evidence(
    findings: Sequence[Finding], chapters: Sequence[Chapter], settings: Settings
) -> tuple[dict[str, Evidence], bool]:
    """Return what the record says of each judged row, and whether the book asks for variations."""
    record, document = read_outcomes(settings.root), declared(settings.root)
    known = {name for name, _ in record.outcomes} | {*record.numbers}
    fingerprints = {
        chapter.name: chapter_fingerprint(chapter, settings)
        for chapter in chapters
        if chapter.name in known
    }
    found = {
        finding.claim.id: evidence_of(
            finding, record, document, fingerprints.get(finding.claim.chapter)
        )
        for finding in findings
    }
    return {name: one for name, one in found.items() if one is not None}, bool(document)


def run_chapters(
    chapters: Sequence[Chapter], settings: Settings, display: Display, tell: Callable[[str], None]
) -> tuple[dict[str, cache.Entry], dict[str, cache.Entry]]:
    """Return the entries found and the entries made now; raise BookError if a chapter failed."""
    found: dict[str, cache.Entry] = {}
    missing: list[tuple[Chapter, str]] = []
    Store(settings.results).check()
    tidy(settings)
    with frozen(settings, chapters) as settings:
        for chapter in chapters:
            key = chapter_key(chapter, settings)
            entry, remark = cache.find(settings, key)
            if remark:
                tell(remark)
            if entry:
                found[chapter.name] = entry
            else:
                missing.append((chapter, key))
        if missing and (why := head_of(settings.root)[1]):
            tell(f"the commit of what is executed will be recorded as unknown: {why}")
        made, failures = execute_chapters(missing, settings, display)
    raise_if_any(failures)
    return found, made


def _seconds(entries: dict[str, cache.Entry]) -> float:
    return sum(entry.origin["seconds"] for entry in entries.values())
