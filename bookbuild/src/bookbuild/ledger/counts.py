"""How many rows are what, the headline claims, and the matrix of wrong trainings, as MyST."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from bookbuild.source.chapters import Chapter

from .claims import Finding, Kind, Verdict, count
from .evidence import Seen, Sight
from .records import Records
from .templates import render

KINDS: dict[Kind, str] = {
    "paper": "Claims of the paper, as printed",
    "sharper": "Sharper readings of ours",
    "new": "New results",
    "companion": "Companions",
    "erratum": "Errata of the paper",
}
STEADINESS = {
    "steady": "have the same verdict",
    "flips": "have another verdict",
    "earlier": "had the same verdict with earlier code",
    "missing": "were not repeated",
}
WORDS: Mapping[str, Mapping[Any, str]] = {
    "preregistration": {
        "before": "written before the measure",
        "together": "not told",
        "after": "written after the measure",
        "changed": "changed after the measure",
    },
    "seeds": STEADINESS,
    "rounding": STEADINESS,
    "faults": {
        "turned": "would catch one",
        "contradicted": "are contradicted, and cannot get worse",
        "green": "catch none",
        "untried": "had none planted",
    },
    "others": STEADINESS,
}
# What stands in a cell of the matrix of wrong trainings, and what it means.
MARKS: Mapping[Sight, tuple[str, str]] = {
    "kills": ("●", "the row turns"),
    "green": ("○", "the row should turn, and stays as it is"),
    "better": ("+", "the row gets better, which proves nothing"),
    "true": ("–", "the statement of the row stays true"),
    "stops": ("×", "the chapter stops, so the row has no verdict"),
    "broken": ("!", "the row turns although its statement should stay true"),
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


def record_counts(what: str, findings: Sequence[Finding], records: Records) -> str:
    """Return, for each kind, of how many rows a record says what; empty without a record.

    `what` is one of WORDS.
    """
    words = [(f.claim.kind, records.about(f).words[what]) for f in findings]
    return _counts(what, WORDS[what], words)


def unrenewed(findings: Sequence[Finding], records: Records) -> str:
    """Return how many rows read no better than partly for want of evidence, as MyST."""
    known = [records.evidence.get(finding.claim.id) for finding in findings]
    lacking = [one for one in known if one and one.lacks]
    kept = sum(one.seeds.own == "reproduced" for one in lacking)
    numbers = {"rows": sum(map(bool, known)), "lacking": len(lacking), "kept": kept}
    return render("unrenewed.md", **numbers) if records.required and lacking else ""


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


def told_verdicts(findings: Sequence[Finding]) -> tuple[list[list[str]], list[str]]:
    """Return the counts as the rows of a table, its head first, and what did not hold."""
    counts = count(findings)
    table = [["", *next(iter(counts.values()), {})]]
    table += [[KINDS[kind], *map(str, verdicts.values())] for kind, verdicts in counts.items()]
    amiss = [
        f"{verdict}: {finding.claim.id} ({KINDS[finding.claim.kind]}; {finding.claim.source})"
        for verdict in ("contradicted", "partly")
        for finding in findings
        if finding.verdict == verdict and not finding.unconfirmed
    ]
    if lacking := sum(finding.unconfirmed for finding in findings):
        amiss.append(f"partly for want of evidence: {lacking} rows")
    return table, amiss


def wrong_trainings(
    findings: Sequence[Finding], chapters: Sequence[Chapter], records: Records
) -> str:
    """Return the matrix of each chapter on which wrong trainings were tried."""
    tried = []
    for chapter in chapters:
        rows: dict[str, dict[str, Seen]] = {}
        for row in (f.claim.id for f in findings if f.claim.chapter == chapter.name):
            known = records.evidence.get(row)
            if faults := [one for one in known.faults if one.is_training] if known else []:
                rows[row] = {one.says: one for one in faults}
        if rows:
            kinds = sorted(
                {(one.kind, one.says) for seen in rows.values() for one in seen.values()}
            )
            tried.append((chapter, rows, kinds, _reasons(rows)))
    met = {f.claim.id for f in findings if f.verdict == "contradicted"}
    return render("wrong_trainings.html", tried=tried, marks=MARKS, contradicted=met)


def _reasons(rows: Mapping[str, Mapping[str, Seen]]) -> dict[str, list[int]]:
    """Return why statements stay true, each with the numbers of its rows."""
    found: dict[str, list[int]] = {}
    for number, seen in enumerate(rows.values(), start=1):
        for why in dict.fromkeys(one.why for one in seen.values() if one.why):
            found.setdefault(why, []).append(number)
    return found


def _counts(
    what: str, names: Mapping[Any, str], words: Sequence[tuple[Kind, str]], up: str = ""
) -> str:
    """Return the numbers of each kind, each leading to its rows by a query of the verdict page."""
    counts = Counter(words)
    found = {kind: {w: counts[kind, w] for w in names if counts[kind, w]} for kind in KINDS}
    shown = {kind: numbers for kind, numbers in found.items() if numbers}
    given = {"names": names, "counts": shown, "kinds": KINDS}
    return render("counts.html", what=what, up=up, **given) if shown else ""
