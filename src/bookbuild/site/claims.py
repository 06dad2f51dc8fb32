"""A lasting address for each claim: a small page that leads on to its row."""

from collections.abc import Iterable
from html import escape
from pathlib import Path

from bookbuild.ledger.claims import Finding
from bookbuild.ledger.templates import CLAIMS, claim_address

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={row}">
<link rel="canonical" href="{row}">
<title>{name}: {verdict}</title></head>
<body><p>{source}: <a href="{row}">{name}</a>, {verdict}.</p></body></html>
"""


def write_claim_pages(site: Path, findings: Iterable[Finding]) -> None:
    """Write a page for each claim; it works without scripts, and from a folder."""
    (site / CLAIMS).mkdir()
    for finding in findings:
        claim = finding.claim
        row = f"../book/verdicts.html#claim-{claim.id}"
        told = {"row": row, "name": claim.id, "verdict": finding.verdict, "source": claim.source}
        page = PAGE.format(**{name: escape(text) for name, text in told.items()})
        (site / claim_address(claim.id)).write_text(page, encoding="utf-8")
