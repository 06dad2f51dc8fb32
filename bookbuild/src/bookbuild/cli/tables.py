"""What a chapter found, as tables in a terminal: its checks, and its claims with verdicts."""

import sys
from collections.abc import Collection, Iterator

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bookbuild.ledger.claims import Finding
from bookbuild.reporting.expectations import Check
from bookbuild.settings import BuildSettings
from bookbuild.site.pieces import without_formulas

WIDTH = 100  # in characters, where the output is no terminal


def print_tables(findings: Collection[Finding], checks: Collection[Check]) -> None:
    """Print the checks of a chapter, and then its claims."""
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    checked = [[check.what, check.value, check.bound, check.outcome] for check in checks]
    claimed = [_row(finding) for finding in findings]
    for first, last, rows in (("Check", "Outcome", checked), ("Claim", "Verdict", claimed)):
        head = (first, "Measured", "Expected", last)
        table = Table(*head, box=box.SIMPLE_HEAD, pad_edge=False, leading=int(rows is claimed))
        for row in rows:
            table.add_row(*map(Text, row))
        if rows:
            console.print(table)


def why_not_judged(settings: BuildSettings) -> Iterator[str]:
    """Yield a sentence for each reason why nothing is judged; none in a build that judges."""
    if settings.changes:
        changed = " ".join(f"{name}={value}" for name, value in settings.changes.items())
        yield f"Nothing is judged, because these settings are not those of the page: {changed}."
    if settings.profile != "paper":
        yield (
            f"Nothing is judged, because PROFILE={settings.profile} has toy sizes, and the claims "
            "are about those of the paper."
        )


def _row(finding: Finding) -> list[str]:
    """Return the cells of a claim."""
    claim, measured, verdict = finding.claim, finding.measured, str(finding.verdict)
    if finding.unconfirmed:
        verdict = "partly: as expected here, but evidence is missing or outdated"
    elif verdict == "partly" and measured and claim.expectation:
        verdict = f"partly: {claim.expectation.holding(measured)}"
    statement = without_formulas(claim.headline or claim.statement)
    expected = claim.expectation or ""
    return [f"{claim.id}\n{statement}", str(measured or ""), str(expected), verdict]
