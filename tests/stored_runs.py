"""Files of stored runs: those of this repository, and made up ones."""

from typing import Any

from running.records import Entry, written
from tools.this_book import ROOT


def stored_text(name: str) -> str:
    """The text of a file below data/companions."""
    return (ROOT / "data" / "companions" / f"{name}.json").read_text(encoding="utf-8")


def file_with(configuration: Any, result: Any) -> str:
    """The text of a file with one run, of which nobody wrote down what made it."""
    return written([Entry(configuration, None, None, None, {}, None, None, result)])
