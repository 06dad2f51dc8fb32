"""The ledger: claims, the measures that chapters report, and the verdicts."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bookbuild.errors import raise_if_any
from bookbuild.reporting.expectations import Expectation, read_expectation
from bookbuild.reporting.measures import Measure, Measures, Over, Reported
from bookbuild.schema import Fault, faults, line_of, load

Kind = Literal["paper", "sharper", "new", "companion", "erratum"]
Verdict = Literal["reproduced", "partly", "contradicted", "not testable here", "not judged"]

LEDGER = Path("data/claims.yml")
SCHEMA = Path(__file__).with_name("claims.schema.json")


@dataclass(frozen=True)
class Rebuttal:
    """What the authors could say to a verdict, and our answer, in Markdown with formulas."""

    defence: str
    answer: str


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
    exact: str = ""  # why no seed can change the verdict, of a proof, a count or an identity
    not_testable: str = ""
    printed: str = ""  # the sentence that the row judges, word for word
    headline: str = ""  # the claim in plain words, for lists of main results
    rebuttal: Rebuttal | None = None  # of a claim of others that does not hold as it stands

    @property
    def title(self) -> str:
        """The sentence that the row judges in quotation marks, or our own statement."""
        return f"“{self.printed}”" if self.printed else self.statement

    def measured_in(self, values: Mapping[str, Any]) -> Measure | None:
        """Return the row's measure among values by key; None where it lacks or does not fit."""
        value, expectation = values.get(self.measure), self.expectation
        if value is None or expectation is None:
            return None
        over: Over | None = "settings" if isinstance(value, Mapping) else None
        if isinstance(value, list):
            over = "interval" if expectation.form == "contains" else "seeds"
        measure = Measure.of({"value": value, "over": over})
        return None if expectation.misfit(measure) else measure

    def verdict_on(self, values: Mapping[str, Any]) -> Verdict | None:
        """Return the verdict on values by key; None where they have none that fits."""
        measure, expectation = self.measured_in(values), self.expectation
        return expectation.verdict(measure) if measure and expectation else None

    def owes_a_rebuttal(self, verdict: Verdict) -> bool:
        """Return whether a verdict is held against a source and no defence of it is written."""
        held = verdict in ("partly", "contradicted", "not testable here")
        return self.kind in ("paper", "companion") and held and self.rebuttal is None


@dataclass(frozen=True)
class Finding:
    """A claim, what was measured, and the verdict.

    It is unconfirmed if the verdict would be *reproduced*, had the row been repeated at other first
    seeds and under another rounding.
    """

    claim: Claim
    measured: Measure | None
    verdict: Verdict
    unconfirmed: bool = False


def read_claims(root: Path, chapters: Sequence[str]) -> list[Claim]:
    """Return the rows of the ledger; raise BookError with a sentence for each malformed one."""
    rows = load(root / LEDGER, LEDGER) or []
    flaws = faults(rows, SCHEMA, depth=1)
    if isinstance(rows, list):
        flaws += _beyond_schema(rows, {fault.path[:2] for fault in flaws}, chapters)
    text = (root / LEDGER).read_text(encoding="utf-8") if flaws else ""
    raise_if_any(
        f"{LEDGER}, line {line_of(text, x.path)}{_row(rows, x.path)}: {x.clause}." for x in flaws
    )
    return [_claim(row) for row in rows]


def judge(claims: Sequence[Claim], reported: Reported, *, judged: bool) -> list[Finding]:
    """Return the findings of all claims, given what each chapter reported.

    Without `judged` (the smoke profile) measures are matched with claims but no verdict is made.
    Raises BookError with a sentence for each claim without measure, measure without claim and
    measure whose kind does not fit.
    """
    raise_if_any(_mismatches(claims, reported))
    return [*_findings(claims, reported, judged)]


def judge_chapter(
    claims: Sequence[Claim],
    chapter: str,
    measures: Measures,
    quoted: Set[str],
    *,
    judged: bool,
) -> tuple[list[Finding], list[str]]:
    """Return the findings of a chapter's claims, and sentences where a build would raise.

    A claim whose measure is missing or does not fit has no finding. `quoted` has the measures that
    pages quote.
    """
    rows, reported = [claim for claim in claims if claim.chapter == chapter], {chapter: measures}
    told = [*_mismatches(rows, reported), *idle(claims, reported, quoted)]
    return [*_findings(rows, reported, judged)], told


def _findings(claims: Sequence[Claim], reported: Reported, judged: bool) -> Iterator[Finding]:
    """Yield the findings of claims, but of those whose measure is missing or does not fit."""
    for claim in claims:
        measures, expectation = reported.get(claim.chapter, {}), claim.expectation
        if expectation is None:
            yield Finding(claim, None, "not testable here")
        elif claim.measure in measures:
            measured = Measure.of(measures[claim.measure])
            if not expectation.misfit(measured):
                verdict = expectation.verdict(measured) if judged else "not judged"
                yield Finding(claim, measured, verdict)


def _row(rows: Any, path: Sequence[int | str]) -> str:
    """Return how a message names the row that a path leads to; nothing for one without an id."""
    row = rows[path[0]] if path else {}
    has_id = isinstance(row, dict) and isinstance(row.get("id"), str)
    return f", row {row['id']!r}" if has_id else ""


def _beyond_schema(
    rows: Sequence[Any], at_fault: Set[tuple[int | str, ...]], chapters: Sequence[str]
) -> Iterator[Fault]:
    """Yield what is wrong with fields that fit the schema, and ids that rows share."""
    ids: set[str] = set()
    for number, row in enumerate(rows):
        fields = row if isinstance(row, dict) else {}
        sound = {name: fields[name] for name in fields if (number, name) not in at_fault}
        if "chapter" in sound and sound["chapter"] not in chapters:
            clause = f"the chapter {sound['chapter']!r} does not exist"
            yield Fault((number, "chapter"), clause)
        if "expect" in sound:
            try:
                read_expectation(sound["expect"])
            except ValueError as error:
                yield Fault((number, "expect"), str(error))
        if sound.get("id") in ids:
            yield Fault((number, "id"), "an earlier row has the same id")
        ids.update([sound["id"]] if "id" in sound else ())


def _claim(row: Mapping[str, Any]) -> Claim:
    fields = {name: value for name, value in row.items() if name not in ("expect", "rebuttal")}
    expectation = read_expectation(row["expect"]) if "expect" in row else None
    rebuttal = Rebuttal(**row["rebuttal"]) if "rebuttal" in row else None
    return Claim(**fields, expectation=expectation, rebuttal=rebuttal)


def _mismatches(claims: Sequence[Claim], reported: Reported) -> Iterator[str]:
    """Yield a sentence for each claim without its measure, and for each measure without a claim."""
    owners: dict[str, str] = {}
    for chapter, measures in reported.items():
        for key in measures:
            if owners.setdefault(key, chapter) != chapter:
                yield f"Measure {key!r} is reported by {owners[key]} and by {chapter}."
    for claim in claims:
        row, measure = f"{LEDGER}, row {claim.id!r}", f"measure {claim.measure!r}"
        owner = owners.get(claim.measure)
        if claim.expectation is None:
            continue
        if owner is None:
            yield f"{row}: {measure} is not reported by any chapter."
        elif owner != claim.chapter:
            yield f"{row}: {measure} is reported by {owner}, not by {claim.chapter}."
        elif misfit := claim.expectation.misfit(Measure.of(reported[owner][claim.measure])):
            yield f"{row}: {misfit}."


def idle(claims: Sequence[Claim], reported: Reported, quoted: Set[str]) -> Iterator[str]:
    """Yield a sentence for each measure that is for nothing, or for two things.

    A measure decides a row, is held against the bound of a check, or is quoted by another page.
    """
    claimed = {claim.measure for claim in claims}
    for chapter, measures in reported.items():
        for key, measure in measures.items():
            place = f"Measure {key!r} of chapter {chapter}"
            if "check" in measure and key in claimed:
                yield f"{place} has a claim in {LEDGER}, and a check: one of them is enough."
            if "check" not in measure and key not in claimed | quoted:
                yield (
                    f"{place} has no claim in {LEDGER}, and no other page quotes it: add a claim, "
                    "check it, or let the prose evaluate it."
                )
