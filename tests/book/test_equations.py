"""The page from equation to code names functions and tests that exist, and every equation."""

import csv
import importlib

from chapters.beyond.machine_checked import formal
from tools.this_book import ROOT

with (ROOT / "data" / "equations.csv").open(encoding="utf-8") as stream:
    ROWS = list(csv.DictReader(stream))


def test_functions_exist():
    for name in {row["function"] for row in ROWS if row["function"]}:
        module, _, function = name.rpartition(".")
        assert callable(getattr(importlib.import_module(module), function)), name


def test_tests_exist():
    for name in {row["test"] for row in ROWS if row["test"]}:
        path, _, function = name.partition("::")
        assert f"\ndef {function}(" in (ROOT / path).read_text(encoding="utf-8"), name


def test_formal_theorems_exist():
    named = {name for row in ROWS for name in (row["formal"] or "").split()}
    assert named
    assert named <= set(formal.statements(ROOT / formal.FOLDER))


def test_every_numbered_equation_is_listed():
    listed = {row["equation"] for row in ROWS}
    assert {f"Eq. {number}" for number in range(1, 16)} <= listed
