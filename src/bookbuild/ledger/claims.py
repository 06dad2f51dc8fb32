"""Read the claims, hold them against what the chapters reported, and judge them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from bookbuild.errors import BookError, raise_if_any

from .expectations import Expectation, Measured, read_expectation

Kind = Literal["paper", "new", "companion"]
Verdict = Literal["reproduced", "partly", "contradicted", "not testable here", "not judged"]

LEDGER = Path("data/claims.yml")
ALWAYS = {"id", "source", "statement", "kind", "chapter"}
TESTED = {"measure", "expect", "why"}
ALLOWED = ALWAYS | TESTED | {"not_testable", "headline"}
IDENTIFIER = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Claim:
    """A row of the ledger; either measure, expectation and why are set, or not_testable."""

    id: str
    source: str
    statement: str
    kind: Kind
    chapter: str
    measure: str = ""
    expectation: Expectation | None = None
    why: str = ""
    not_testable: str = ""
    headline: str = ""  # the claim in plain words, for the landing page


@dataclass(frozen=True)
class Finding:
    """A claim, what was measured, and the verdict."""

    claim: Claim
    measured: Measured | None
    verdict: Verdict


def read_claims(root: Path, chapters: Sequence[str]) -> list[Claim]:
    """Return the rows of the ledger; raise BookError with a sentence for each malformed one."""
    try:
        rows = yaml.safe_load((root / LEDGER).read_text(encoding="utf-8")) or []
    except (OSError, yaml.YAMLError) as error:
        raise BookError(f"{LEDGER} cannot be read: {' '.join(str(error).split())}.") from error
    if not isinstance(rows, list):
        raise BookError(f"{LEDGER} is not a list of rows.")
    names = [_name(number, row) for number, row in enumerate(rows, start=1)]
    problems = [
        f"{LEDGER}, {name}: {problem}."
        for name, row in zip(names, rows, strict=True)
        for problem in _row_problems(row, chapters)
    ]
    ids = (row.get("id") for row in rows if isinstance(row, dict))
    counts = Counter(name for name in ids if isinstance(name, str))
    problems += [
        f"{LEDGER}, row {name!r}: the id is used {times} times."
        for name, times in counts.items()
        if times > 1
    ]
    raise_if_any(problems)
    return [_claim(row) for row in rows]


def judge(
    claims: Sequence[Claim],
    reported: Mapping[str, Mapping[str, Mapping[str, Any]]],
    *,
    judged: bool,
) -> list[Finding]:
    """Return the findings of all claims, given what each chapter reported.

    Without `judged` (the smoke profile) measures are matched with claims but no verdict is made.
    Raises BookError with a sentence for each claim without measure, measure without claim and
    measure whose kind does not fit.
    """
    owners = _owners(reported)
    raise_if_any([*_unmatched_claims(claims, owners), *_unmatched_measures(claims, reported)])
    findings = []
    for claim in claims:
        if claim.expectation is None:
            findings.append(Finding(claim, None, "not testable here"))
            continue
        measure = reported[claim.chapter][claim.measure]
        measured = Measured(measure["value"], measure["over"])
        verdict = claim.expectation.verdict(measured) if judged else "not judged"
        findings.append(Finding(claim, measured, verdict))
    return findings


def count(findings: Sequence[Finding]) -> dict[Verdict, int]:
    """Return how many findings have each verdict, the four verdicts always among them."""
    counts = Counter(finding.verdict for finding in findings)
    return {
        verdict: counts[verdict]
        for verdict in get_args(Verdict)
        if counts[verdict] or verdict != "not judged"
    }


def _name(number: int, row: Any) -> str:
    """Return how a message names a row."""
    has_id = isinstance(row, dict) and isinstance(row.get("id"), str)
    return f"row {row['id']!r}" if has_id else f"row {number}"


def _row_problems(row: Any, chapters: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with a row."""
    if not isinstance(row, dict):
        yield "it is not a mapping of fields"
        return
    yield from (f"unknown field {name!r}" for name in row if name not in ALLOWED)
    needed = ALWAYS | ({"not_testable"} if "not_testable" in row else TESTED)
    yield from (f"the field {name!r} is missing" for name in sorted(needed - row.keys()))
    texts = sorted((row.keys() & ALLOWED) - {"expect"})
    yield from (
        f"the field {name!r} is not a text"
        for name in texts
        if not (isinstance(row[name], str) and row[name].strip())
    )
    if "$" in str(row.get("headline", "")):
        yield "the headline has a formula, and the landing page sets none"
    if "not_testable" in row:
        idle = sorted(TESTED & row.keys())
        yield from (f"{name!r} does not go with 'not_testable'" for name in idle)
    if not IDENTIFIER.fullmatch(str(row.get("id", "x"))):
        yield "the id is not kebab-case"
    if row.get("kind", "new") not in get_args(Kind):
        yield f"the kind {row['kind']!r} is none of {', '.join(get_args(Kind))}"
    if "chapter" in row and row["chapter"] not in chapters:
        yield f"there is no chapter {row['chapter']!r}"
    if "expect" in row:
        try:
            read_expectation(row["expect"])
        except ValueError as error:
            yield str(error)


def _claim(row: Mapping[str, Any]) -> Claim:
    fields = {name: value for name, value in row.items() if name != "expect"}
    expectation = read_expectation(row["expect"]) if "expect" in row else None
    return Claim(**fields, expectation=expectation)


def _owners(reported: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the chapter of each measure; raise BookError for one that two chapters report."""
    owners: dict[str, str] = {}
    problems = []
    for chapter, measures in reported.items():
        for key in measures:
            if owners.setdefault(key, chapter) != chapter:
                problems.append(f"Measure {key!r} is reported by {owners[key]} and by {chapter}.")
    raise_if_any(problems)
    return owners


def _unmatched_claims(claims: Sequence[Claim], owners: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each claim whose measure its chapter did not report."""
    for claim in claims:
        if claim.expectation is None:
            continue
        owner = owners.get(claim.measure)
        row = f"{LEDGER}, row {claim.id!r}: measure {claim.measure!r}"
        if owner is None:
            yield f"{row} is reported by no chapter."
        elif owner != claim.chapter:
            yield f"{row} is reported by {owner}, not by {claim.chapter}."


def _unmatched_measures(
    claims: Sequence[Claim], reported: Mapping[str, Mapping[str, Mapping[str, Any]]]
) -> Iterator[str]:
    """Yield a sentence for each judged measure without a claim, and for each misfit."""
    claimed = {claim.measure for claim in claims}
    for chapter, measures in reported.items():
        for key, measure in measures.items():
            if measure["judged"] and key not in claimed:
                yield f"Measure {key!r} of chapter {chapter} has no claim in {LEDGER}."
            if not measure["judged"] and key in claimed:
                yield f"Measure {key!r} of chapter {chapter} has a claim, but is not to be judged."
    for claim in claims:
        measure = reported.get(claim.chapter, {}).get(claim.measure)
        if claim.expectation is None or measure is None:
            continue
        misfit = claim.expectation.misfit(Measured(measure["value"], measure["over"]))
        if misfit:
            yield f"{LEDGER}, row {claim.id!r}: {misfit}."
