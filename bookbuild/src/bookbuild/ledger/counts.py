"""How many rows and checks are what, and the headline claims, as MyST."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from bookbuild.errors import raise_if_any
from bookbuild.reporting.expectations import Check, Outcome
from bookbuild.reporting.measures import Reported
from bookbuild.source.chapters import Chapter

from .claims import Finding, Kind, Verdict
from .records import Question, Records
from .templates import render

KINDS: dict[Kind, str] = {
    "paper": "Claims of the paper, as printed",
    "sharper": "Sharper readings of ours",
    "new": "New results",
    "companion": "Companions",
    "erratum": "Errata of the paper",
}
Checks = Mapping[str, Mapping[str, Check]]  # by chapter, then by the key of the measure

MANY: Mapping[Outcome, str] = {  # an outcome as it is said of several
    "holds": "hold",
    "holds in part": "hold in part",
    "does not hold": "do not hold",
    "not judged": "not judged",
}


def verdict_summary(findings: Sequence[Finding], *, up: str = "") -> str:
    """Return the counts of each kind, and the headline claims; `up` leads to the verdict page."""
    headlines = {
        title: [f for f in findings if f.claim.kind == kind and f.claim.headline]
        for kind, title in KINDS.items()
    }
    return verdict_counts(findings, up=up) + render("headlines.html", headlines=headlines, up=up)


def verdict_counts(findings: Sequence[Finding], *, up: str = "") -> str:
    """Return the verdicts of each kind as a row of badges, which filter the verdict page."""
    names = {verdict: verdict for verdict in get_args(Verdict)}
    return _counts("verdict", names, [(f.claim.kind, f.verdict) for f in findings], up)


def answer_counts(question: Question, findings: Sequence[Finding], records: Records) -> str:
    """Return, for each kind, how many rows answer a question in which word; empty for none."""
    names = {word: counted for word, (counted, _) in question.words.items()}
    answers = [(f.claim.kind, records.about(f).words.get(question.name, "")) for f in findings]
    return _counts(question.name, names, answers)


def news(findings: Sequence[Finding]) -> str:
    """Return how many claims of the paper hold, and those that do not in full, as MyST."""
    tested = [f for f in findings if f.claim.kind == "paper" and f.measured]
    judged = any(finding.verdict != "not judged" for finding in tested)
    holding = [f for f in tested if f.verdict == "reproduced" or f.unconfirmed]
    waiting = sum(finding.unconfirmed for finding in holding)
    others = {
        verdict: [f for f in tested if f.verdict == verdict and f not in holding]
        for verdict in ("partly", "contradicted")
    }
    numbers = {"tested": len(tested), "holding": len(holding), "waiting": waiting}
    return render("news.md", others=others, judged=judged, **numbers)


def told_verdicts(findings: Sequence[Finding]) -> list[str]:
    """Return a line with the counts of each kind, and one for each row that does not hold."""
    lines = []  # kinds are never added up: a result of this book says nothing about the paper
    for kind, title in KINDS.items():
        verdicts = Counter(finding.verdict for finding in findings if finding.claim.kind == kind)
        numbers = [f"{verdicts[v]} {v}" for v in get_args(Verdict) if verdicts[v]]
        lines += [f"{title}: {', '.join(numbers)}"] if numbers else []
    lines += [
        f"{verdict}: {finding.claim.id} ({KINDS[finding.claim.kind]}; {finding.claim.source})"
        for verdict in ("contradicted", "partly")
        for finding in findings
        if finding.verdict == verdict and not finding.unconfirmed
    ]
    if lacking := sum(finding.unconfirmed for finding in findings):
        lines.append(f"partly for want of evidence: {lacking} rows")
    return lines


def _counts(
    what: str, names: Mapping[Any, str], words: Sequence[tuple[Kind, str]], up: str = ""
) -> str:
    """Return the numbers of each kind, each leading to its rows by a query of the verdict page."""
    counts = Counter(words)
    by_kind = {kind: {w: counts[kind, w] for w in names if counts[kind, w]} for kind in KINDS}
    shown = {kind: numbers for kind, numbers in by_kind.items() if numbers}
    given = {"names": names, "counts": shown, "kinds": KINDS}
    return render("counts.html", what=what, up=up, **given) if shown else ""


def checks_of(reported: Reported, *, judged: bool) -> dict[str, dict[str, Check]]:
    """Return the checks of each chapter; BookError for one that a statement does not hold."""
    raise_if_any(
        f"Chapter {chapter}, the check {measure['check']['what']!r}: holds= can only be True."
        for chapter, measures in reported.items()
        for measure in measures.values()
        if measure.get("check", {}).get("holds", True) is not True
    )
    checks: dict[str, dict[str, Check]] = {}
    for chapter, measures in reported.items():
        for key in (key for key in measures if "check" in measures[key]):
            checks.setdefault(chapter, {})[key] = Check.of(measures[key], judged=judged)
    return checks


def checks_table(checks: Checks, chapters: Sequence[Chapter]) -> str:
    """Return the checks folded by chapter, in the order of the book; empty for none."""
    named = [(chapter, checks[chapter.name]) for chapter in chapters if chapter.name in checks]
    counts = Counter(check.outcome for _, of in named for check in of.values())
    return render("checks.html", chapters=named, counts=counts) if named else ""


def told_checks(checks: Checks, page: str) -> list[str]:
    """Return a line with the counts of each outcome, and the page that lists them, if any."""
    counts = Counter(check.outcome for of in checks.values() for check in of.values())
    told = [f"{counts[outcome]} {many}" for outcome, many in MANY.items() if counts[outcome]]
    where = f"; {page} lists them" if page else ""
    return [f"Checks: {', '.join(told)}{where}"] if told else []
