"""Data beside the pages: the ledger and the data of each figure, and the page that lists them."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.filesize import decimal as readable_size

from bookbuild.errors import raise_if_any
from bookbuild.ledger.claims import Finding
from bookbuild.ledger.records import SCHEMA, Records, ledger_csv, ledger_json, ledger_row
from bookbuild.ledger.templates import CLAIMS, claim_address, render
from bookbuild.reporting.notebook import FIGURES_FOLDER
from bookbuild.results.executed import Entry
from bookbuild.schema import faults
from bookbuild.source.chapters import Chapter

FOLDER = "data"
LEDGER = "ledger"
LEDGER_KINDS = ("json", "csv", "schema.json")


def write_ledger(folder: Path, findings: Sequence[Finding], records: Records) -> None:
    """Write the ledger as JSON and as CSV into a new folder, with a schema of the JSON.

    Raises BookError for rows that the schema does not describe.
    """
    folder.mkdir()
    rows = [ledger_row(finding, records) for finding in findings]
    raise_if_any(f"The published ledger: {fault.clause}." for fault in faults(rows, SCHEMA))
    schema = SCHEMA.read_text(encoding="utf-8")
    texts = (ledger_json(rows), ledger_csv(rows), schema)
    for kind, text in zip(LEDGER_KINDS, texts, strict=True):
        (folder / f"{LEDGER}.{kind}").write_text(text, encoding="utf-8")


def write_claim_pages(site: Path, findings: Iterable[Finding]) -> None:
    """Write a small page for each claim at a lasting address, which leads on to its row."""
    (site / CLAIMS).mkdir()
    for finding in findings:
        page = render("claim.html", claim=finding.claim, verdict=finding.verdict)
        (site / claim_address(finding.claim.id)).write_text(page, encoding="utf-8")


def write_tables(entry: Entry, folder: Path) -> None:
    """Write the data of a chapter's figures as CSV, beside the JSON."""
    for name, content in entry.figures.items():
        if name.endswith(".json"):
            text = figure_table(json.loads(content)["data"])
            (folder / name).with_suffix(".csv").write_text(text, encoding="utf-8")


def figure_table(data: Mapping[str, Any]) -> str:
    """Return a figure's arrays as CSV: a line a number, with its array and its indices."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("array", "index", "value"))
    for name, array in data.items():
        writer.writerows((name, *entry) for entry in _flat(array))
    return stream.getvalue()


def catalogue(chapters: Sequence[Chapter], entries: Mapping[str, Entry]) -> str:
    """Return the list of all data as MyST, for a page in the folder of the book."""
    figures = [
        (
            chapter,
            name.removesuffix(".json"),
            readable_size(len(content)),
            json.loads(content)["data"],
        )
        for chapter in chapters
        for name, content in sorted(entries[chapter.name].figures.items())
        if name.endswith(".json")
    ]
    ledger = {"ledger": f"../{FOLDER}/{LEDGER}", "kinds": LEDGER_KINDS}
    return render("data_catalogue.html", figures=figures, folder=FIGURES_FOLDER, **ledger)


def _flat(value: Any, *places: str) -> Iterator[tuple[str, Any]]:
    """Yield each number of nested lists with its indices, a space between them."""
    if not isinstance(value, list):
        yield " ".join(places), value
        return
    for place, item in enumerate(value):
        yield from _flat(item, *places, str(place))
