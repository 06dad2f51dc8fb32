"""A lasting address for each claim: a small page that leads on to its row."""

from collections.abc import Iterable
from pathlib import Path

from bookbuild.ledger.claims import Finding
from bookbuild.ledger.templates import CLAIMS, claim_address, render


def write_claim_pages(site: Path, findings: Iterable[Finding]) -> None:
    """Write a page for each claim; it works without scripts, and from a folder."""
    (site / CLAIMS).mkdir()
    for finding in findings:
        page = render("claim.html", claim=finding.claim, verdict=finding.verdict)
        (site / claim_address(finding.claim.id)).write_text(page, encoding="utf-8")
