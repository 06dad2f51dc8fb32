"""The verdicts as MyST pages: counts and headline claims, and the whole table."""

import html
from collections.abc import Mapping, Sequence
from itertools import groupby

from bookbuild.source.chapters import Chapter

from .claims import Finding, Kind, Verdict, count
from .expectations import Holding

KINDS: dict[Kind, str] = {
    "paper": "Claims of the paper",
    "new": "New results",
    "companion": "Companions",
    "erratum": "Errata of the paper",
}
SHOWN = 4  # settings that fail: more of them stand behind a fold
TABLE_HEAD = (
    '<table class="ledger">\n<thead><tr><th scope="col">Claim</th><th scope="col">Measured</th>'
    '<th scope="col">Expected</th><th scope="col">Verdict</th></tr></thead>\n<tbody>'
)


def measure_anchor(key: str) -> str:
    """Return the anchor of the cell that measured something."""
    return f"measure-{key}"


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


def verdict_table(findings: Sequence[Finding], chapters: Sequence[Chapter]) -> str:
    """Return a table of all findings for each chapter, in the order of the book."""
    order = {chapter.name: place for place, chapter in enumerate(chapters)}
    titles = {chapter.name: chapter.title for chapter in chapters}
    ordered = sorted(findings, key=lambda finding: order[finding.claim.chapter])
    lines: list[str] = []
    for name, rows in groupby(ordered, key=lambda finding: finding.claim.chapter):
        lines += [f"## {titles[name]}", "", TABLE_HEAD]
        for finding in rows:
            lines += _row(finding)
        lines += ["</tbody></table>", ""]
    return "\n".join(lines)


def made_by(origin: Mapping[str, object]) -> str:
    """Return the small print below an executed page."""
    versions = origin["versions"]
    assert isinstance(versions, Mapping)
    parts = [
        f"profile {origin['profile']}",
        f"device {origin['device']}",
        f"seed {origin['seed']}",
        f"commit {origin['commit']}",
        *(f"{name} {versions[name]}" for name in ("python", "torch") if name in versions),
        f"executed {str(origin['date'])[:10]}",
    ]
    return f'<p class="made-by">This page: {html.escape(" · ".join(parts))}</p>'


def _count(kind: Kind, verdict: Verdict, n: int, up: str) -> str:
    """Return the number of claims of a kind that have a verdict, leading to them."""
    query = f"kind={kind}&amp;verdict={_slug(verdict)}"
    return (
        f'<a class="verdict {_slug(verdict)}" href="{up}verdicts.html?{query}">'
        f"<b>{n}</b> {verdict}</a>"
    )


def _headline(finding: Finding, up: str) -> str:
    """Return a headline claim, its verdict leading to the row."""
    link = f'href="{up}verdicts.html#claim-{finding.claim.id}"'
    return f"<li>{_badge(finding, 'a', link)} {html.escape(finding.claim.headline)}</li>"


def _row(finding: Finding) -> list[str]:
    """Return the lines of one row; statement and reason are Markdown between HTML."""
    claim = finding.claim
    measured = expected = "—"
    if finding.measured is not None:
        link = f"{claim.chapter}.html#{measure_anchor(claim.measure)}"
        measured = _measured(finding, link)
        expected = html.escape(str(claim.expectation))
    return [
        f'<tr id="claim-{claim.id}" data-kind="{claim.kind}" '
        f'data-verdict="{_slug(finding.verdict)}"><td>',
        f'<p class="source">{html.escape(claim.source)}</p>',
        "",
        claim.statement,
        "",
        '<div class="why">',
        "",
        claim.why or claim.not_testable,
        "",
        "</div></td>",
        f'<td data-label="Measured">{measured}</td><td data-label="Expected">{expected}</td>',
        f"<td>{_badge(finding, 'span')}</td></tr>",
    ]


def _measured(finding: Finding, link: str) -> str:
    """Return what was measured, in how many settings or seeds it holds, and where it fails."""
    assert finding.measured is not None
    assert finding.claim.expectation is not None
    told = str(finding.measured)
    holding = finding.claim.expectation.holding(finding.measured)
    if finding.verdict == "not judged" or holding is None:
        return f'<a href="{link}">{html.escape(told)}</a>'
    if holding.unit == "seeds":
        remark = f'<p class="holding">{holding}</p>' if finding.verdict == "partly" else ""
        return f'<a href="{link}">{html.escape(told)}</a>{remark}'
    extent = finding.measured.extent
    told = f"{holding}, {extent}" if extent else str(holding)
    return f'<a href="{link}">{html.escape(told)}</a>{_failing(holding)}'


def _failing(holding: Holding) -> str:
    """Return the settings in which a claim fails, behind a fold where there are many."""
    if not holding.failing:
        return ""
    items = "".join(
        f"<li>{html.escape(f'{name}: {measured}')}</li>"
        for name, measured in holding.failing.items()
    )
    if len(holding.failing) <= SHOWN:
        return f'<div class="failing">fails in<ul>{items}</ul></div>'
    n = len(holding.failing)
    return (
        f'<details class="failing"><summary>fails in {n} settings</summary>'
        f"<ul>{items}</ul></details>"
    )


def _badge(finding: Finding, tag: str, attributes: str = "") -> str:
    kind = f'class="verdict {_slug(finding.verdict)}"'
    return f"<{tag} {kind} {attributes}>{finding.verdict}</{tag}>".replace(" >", ">")


def _slug(verdict: str) -> str:
    return verdict.replace(" ", "-")
