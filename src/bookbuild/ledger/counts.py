"""The verdicts in numbers, each kind of claim apart, and the headline claims: MyST pages."""

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .claims import Finding, Kind, Verdict, count
from .foreseen import State
from .records import Records
from .robust import Rerun, Steadiness
from .sabotage import Alertness

KINDS: dict[Kind, str] = {
    "paper": "Claims of the paper",
    "new": "New results",
    "companion": "Companions",
    "erratum": "Errata of the paper",
}
STATES: dict[State, str] = {
    "before": "written before the measure",
    "together": "not told: came with the measure",
    "after": "written after the measure",
    "changed": "changed after the measure",
}
STEADINESS: dict[Steadiness, str] = {
    "steady": "steady",
    "flips": "flip",
    "earlier": "agree, in earlier code",
}
ALERTNESS: dict[Alertness, str] = {
    "turned": "turned by a fault",
    "argued": "argued for",
    "contradicted": "contradicted, and no fault can make them worse",
    "green": "turned by none",
    "untried": "untried",
}


def verdict_summary(findings: Sequence[Finding], *, up: str = "") -> str:
    """Return the counts of each kind, and the headline claims; `up` leads to the verdict page."""
    lines = [verdict_counts(findings, up=up)]
    for kind, title in KINDS.items():
        rows = [f for f in findings if f.claim.kind == kind and f.claim.headline]
        if rows:
            lines += [f'<p class="headline-kind">{title}</p>', '<ul class="headline-claims">']
            lines += [_headline(finding, up) for finding in rows]
            lines.append("</ul>")
    return "\n".join(lines) + "\n"


def verdict_counts(findings: Sequence[Finding], *, up: str = "") -> str:
    """Return the verdicts of each kind as a row of badges, which filter the verdict page."""
    lines = ['<dl class="verdict-counts">']
    for kind, verdicts in count(findings).items():
        lines.append(f"<dt>{KINDS[kind]}</dt><dd>")
        lines += [_count(kind, verdict, n, up) for verdict, n in verdicts.items() if n]
        lines.append("</dd>")
    return "\n".join([*lines, "</dl>"])


def foreseen_counts(findings: Sequence[Finding], records: Records) -> str:
    """Return, for each kind, how many expectations were written when; empty without a record."""
    known = [(finding, records.state(finding)) for finding in findings]
    counts = Counter((f.claim.kind, told.state) for f, told in known if told is not None)
    names = {state: text.partition(":")[0] for state, text in STATES.items()}
    return _neutral_counts("foreseen", names, counts)


def robust_counts(findings: Sequence[Finding], records: Records) -> str:
    """Return, for each kind, how many rows hold at all other first seeds; empty without a run."""
    return _steadiness_counts("seeds", findings, records.reruns)


def rounding_counts(findings: Sequence[Finding], records: Records) -> str:
    """Return, for each kind, how many rows hold under another rounding; empty without a run."""
    return _steadiness_counts("rounding", findings, records.roundings)


def sabotage_counts(findings: Sequence[Finding], records: Records) -> str:
    """Return, for each kind, how many rows a planted fault has turned; empty without a record."""
    known = [(finding.claim, records.trials.get(finding.claim.id)) for finding in findings]
    counts = Counter((claim.kind, told.alertness) for claim, told in known if told is not None)
    return _neutral_counts("faults", ALERTNESS, counts)


def told_verdicts(findings: Sequence[Finding]) -> tuple[list[list[str]], list[str]]:
    """Return the counts as the rows of a table, its head first, and what did not hold."""
    counts = count(findings)
    table = [["", *next(iter(counts.values()), {})]]
    table += [[KINDS[kind], *map(str, verdicts.values())] for kind, verdicts in counts.items()]
    amiss = [
        f"{verdict}: {finding.claim.id} ({KINDS[finding.claim.kind]}; {finding.claim.source})"
        for verdict in ("contradicted", "partly")
        for finding in findings
        if finding.verdict == verdict
    ]
    return table, amiss


def _steadiness_counts(what: str, findings: Sequence[Finding], reruns: Mapping[str, Rerun]) -> str:
    known = [(finding.claim, reruns.get(finding.claim.id)) for finding in findings]
    counts = Counter((claim.kind, told.steadiness) for claim, told in known if told is not None)
    return _neutral_counts(what, STEADINESS, counts)


def _neutral_counts(
    what: str, names: Mapping[Any, str], counts: Mapping[tuple[Kind, Any], int]
) -> str:
    """Return the numbers of each kind, each leading to its rows by a query of the verdict page."""
    lines = []
    for kind, title in KINDS.items():
        badges = [
            f'<a class="verdict" href="verdicts.html?kind={kind}&amp;{what}={state}">'
            f"<b>{n}</b> {name}</a>"
            for state, name in names.items()
            if (n := counts.get((kind, state), 0))
        ]
        if badges:
            lines += [f"<dt>{title}</dt><dd>", *badges, "</dd>"]
    return "\n".join(['<dl class="verdict-counts">', *lines, "</dl>"]) + "\n" if lines else ""


def _count(kind: Kind, verdict: Verdict, n: int, up: str) -> str:
    """Return the number of claims of a kind that have a verdict, leading to them."""
    query = f"kind={kind}&amp;verdict={slug(verdict)}"
    return (
        f'<a class="verdict {slug(verdict)}" href="{up}verdicts.html?{query}">'
        f"<b>{n}</b> {verdict}</a>"
    )


def _headline(finding: Finding, up: str) -> str:
    """Return a headline claim, its verdict leading to the row."""
    link = f'href="{up}verdicts.html#claim-{finding.claim.id}"'
    return f"<li>{badge(finding, 'a', link)} {html.escape(finding.claim.headline)}</li>"


def badge(finding: Finding, tag: str, attributes: str = "") -> str:
    kind = f'class="verdict {slug(finding.verdict)}"'
    return f"<{tag} {kind} {attributes}>{finding.verdict}</{tag}>".replace(" >", ">")


def slug(verdict: str) -> str:
    return verdict.replace(" ", "-")
