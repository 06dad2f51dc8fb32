"""What a chapter found, as tables in a terminal: its claims with verdicts, and its checks."""

import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bookbuild.ledger.claims import Finding
from bookbuild.ledger.counts import KINDS
from bookbuild.reporting.expectations import Check
from bookbuild.settings import BuildSettings
from bookbuild.site.pieces import without_formulas

WIDTH = 100  # in characters, where the output is no terminal
AS_EXPECTED = "as expected"
RENEW = (
    "as expected: what was measured fits. On the page of verdicts such a row reads partly until "
    "make record has repeated it."
)
READ = "Measured: the mean, with the least and the most of n seeds; or the range over settings."


def print_tables(findings: Collection[Finding], checks: Collection[Check]) -> None:
    """Print the claims of a chapter by their kinds, its checks, and how many claims hold."""
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    for kind, title in KINDS.items():
        rows = [_row(finding) for finding in findings if finding.claim.kind == kind]
        _print(console, (title, "Measured", "Expected", "Verdict"), rows, leading=1)
    checked = [[check.what, check.value, check.bound, check.outcome] for check in checks]
    _print(console, ("Checks of this page", "Measured", "Expected", "Outcome"), checked)
    counts = Counter(_verdict(finding).partition(":")[0] for finding in findings)
    if findings:
        console.print(f"Claims: {', '.join(f'{n} {verdict}' for verdict, n in counts.items())}.")
        console.print(READ)
    if AS_EXPECTED in counts:
        console.print(RENEW)


def _print(
    console: Console, head: Sequence[str], rows: Sequence[Sequence[str]], leading: int = 0
) -> None:
    """Print a table with a head, if it has a row."""
    table = Table(*head, box=box.SIMPLE_HEAD, pad_edge=False, leading=leading)
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
    claim, measured = finding.claim, finding.measured
    statement = without_formulas(claim.headline or claim.statement)
    expected = str(claim.expectation or "")
    return [f"{claim.id}\n{statement}", str(measured or ""), expected, _verdict(finding)]


def _verdict(finding: Finding) -> str:
    """Return the verdict, and in how much a claim holds that holds in part."""
    claim, measured = finding.claim, finding.measured
    if finding.unconfirmed:
        return AS_EXPECTED
    if finding.verdict != "partly" or not measured or not claim.expectation:
        return str(finding.verdict)
    if claim.expectation.verdict(measured) == "reproduced":
        return "partly: as expected here, and not at every other first seed"
    return f"partly: {claim.expectation.holding(measured)}"
