"""The table of verdicts as a MyST page, and what stands below an executed one."""

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby

from bookbuild.source.chapters import Chapter

from .claims import Finding
from .counts import STATES, badge, slug
from .expectations import Holding
from .foreseen import Foreseen
from .records import Records
from .robust import Rerun
from .sabotage import Planted

SHOWN = 4  # settings that fail: more of them stand behind a fold
TABLE_HEAD = (
    '<table class="ledger">\n<thead><tr><th scope="col">Claim</th><th scope="col">Measured</th>'
    '<th scope="col">Expected</th><th scope="col">Verdict</th></tr></thead>\n<tbody>'
)
RESULTS_HEAD = (
    '<table class="ledger">\n<thead><tr><th scope="col">Result</th>'
    '<th scope="col">Measured</th><th scope="col">Verdict</th></tr></thead>\n<tbody>'
)


def measure_anchor(key: str) -> str:
    """Return the anchor of the cell that measured something."""
    return f"measure-{key}"


def verdict_table(
    findings: Sequence[Finding], chapters: Sequence[Chapter], records: Records
) -> str:
    """Return a table of all findings for each chapter, in the order of the book."""
    order = {chapter.name: place for place, chapter in enumerate(chapters)}
    titles = {chapter.name: chapter.title for chapter in chapters}
    ordered = sorted(findings, key=lambda finding: order[finding.claim.chapter])
    lines: list[str] = []
    for name, rows in groupby(ordered, key=lambda finding: finding.claim.chapter):
        lines += [f"## {titles[name]}", "", TABLE_HEAD]
        for finding in rows:
            lines += _row(finding, records)
        lines += ["</tbody></table>", ""]
    return "\n".join(lines)


def results_table(findings: Sequence[Finding], *, up: str = "") -> str:
    """Return the new results among findings behind a fold, which says how they are judged.

    `up` leads to the book's root.
    """
    new = [f for f in findings if f.claim.kind == "new" and f.measured is not None]
    counts = Counter(finding.verdict for finding in new)
    told = ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common())
    lines = [f'<details class="results"><summary>Measured: {told}</summary>', RESULTS_HEAD]
    for finding in new:
        claim = finding.claim
        link = f"{up}{claim.chapter}.html#{measure_anchor(claim.measure)}"
        row = f'href="{up}verdicts.html#claim-{claim.id}"'
        measured = html.escape(str(finding.measured))
        lines += [
            "<tr><td>",
            "",
            claim.statement,
            "",
            f'</td><td data-label="Measured"><a href="{link}">{measured}</a></td>',
            f"<td>{badge(finding, 'a', row)}</td></tr>",
        ]
    return "\n".join([*lines, "</tbody></table>", "</details>"]) + "\n"


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


def _row(finding: Finding, records: Records) -> list[str]:
    """Return the lines of one row; statement and reason are Markdown between HTML."""
    claim = finding.claim
    state, rerun = records.state(finding), records.reruns.get(claim.id)
    rounding, trial = records.roundings.get(claim.id), records.trials.get(claim.id)
    measured = expected = "—"
    if finding.measured is not None:
        link = f"{claim.chapter}.html#{measure_anchor(claim.measure)}"
        measured = _measured(finding, link)
        expected = html.escape(str(claim.expectation))
    return [
        f'<tr id="claim-{claim.id}" data-kind="{claim.kind}" '
        f'data-verdict="{slug(finding.verdict)}" data-foreseen="{state.state if state else ""}" '
        f'data-seeds="{rerun.steadiness if rerun else ""}" '
        f'data-rounding="{rounding.steadiness if rounding else ""}" '
        f'data-faults="{trial.alertness if trial else ""}"><td>',
        f'<p class="source">{html.escape(claim.source)}</p>',
        "",
        claim.statement,
        "",
        '<div class="why">',
        "",
        claim.why or claim.not_testable,
        "",
        f"</div>{_foreseen(state)}{_robust(rerun)}{_rounding(rounding)}{_sabotage(trial)}</td>",
        f'<td data-label="Measured">{measured}</td><td data-label="Expected">{expected}</td>',
        f"<td>{badge(finding, 'span')}</td></tr>",
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


def _foreseen(state: Foreseen | None) -> str:
    """Return when the expectation was written, and what it was before."""
    if state is None:
        return ""
    was = "".join(f"; it was {html.escape(str(earlier))}" for earlier in state.was)
    return f'<p class="foreseen">Expectation: {STATES[state.state]}{was}.</p>'


def _robust(rerun: Rerun | None) -> str:
    """Return at how many other first seeds a row holds, and which verdicts it has elsewhere."""
    if rerun is None:
        return ""
    text = f"holds at {rerun.holds} of {len(rerun.seeds)}"
    if rerun.flips:
        pairs = zip(rerun.seeds, rerun.verdicts, strict=True)
        text = f"flips: {rerun.own} here, {', '.join(f'{of} from {seed}' for seed, of in pairs)}"
    return f'<p class="robust">Other first seeds: {text}{_age(rerun)}.</p>'


def _rounding(rerun: Rerun | None) -> str:
    """Return whether a row has another verdict under another rounding, and which."""
    if rerun is None:
        return ""
    text = f"also {rerun.own}"
    if rerun.flips:
        text = f"the verdict depends on it: {rerun.own} here, {' and '.join(rerun.verdicts)} there"
    return f'<p class="robust">Other rounding: {text}{_age(rerun)}.</p>'


def _age(rerun: Rerun) -> str:
    """Return, as the end of a sentence, how a stored run stands to the present code."""
    if not rerun.current:
        return "; measured by earlier code"
    return f"; {rerun.carried}" if rerun.carried.edits else ""


def _sabotage(trial: Planted | None) -> str:
    """Return how many planted faults turn a row, and the sharpest of them."""
    if trial is None or trial.alertness == "untried":
        return ""
    match trial.alertness:
        case "turned":
            text = f"{len(trial.turned)} of {trial.tried} turn this row, the sharpest: "
            text += trial.turned[0].rstrip(".")
        case "argued":
            text = trial.argument.rstrip(".")
        case "contradicted":
            text = f"contradicted, and none of {trial.tried} can make it worse"
        case _:
            text = f"none of {trial.tried} turns this row"
    if trial.improved:
        text += f"; {trial.improved} make it better, which proves nothing"
    sizes = " (tiny sizes)" if trial.tiny else ""
    over = f"; {trial.carried}" if trial.carried.edits else ""
    return f'<p class="planted">Planted faults{sizes}: {html.escape(text)}{over}.</p>'


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
