"""The page from equation to code names functions and tests that exist, and every equation."""

import ast
import csv
import importlib

import pytest

from chapters.beyond.machine_checked import formal
from tools.this_book import ROOT

with (ROOT / "data" / "equations.csv").open(encoding="utf-8") as stream:
    ROWS = list(csv.DictReader(stream))


@pytest.mark.parametrize("name", sorted({row["function"] for row in ROWS if row["function"]}))
def test_function_exists(name):
    module, _, function = name.rpartition(".")
    assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize("name", sorted({row["test"] for row in ROWS if row["test"]}))
def test_test_exists(name):
    path, _, function = name.partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_formal_theorems_exist():
    named = {name for row in ROWS for name in (row["formal"] or "").split()}
    assert named
    assert named <= set(formal.statements(ROOT / formal.FOLDER))


def test_every_numbered_equation_is_listed():
    listed = {row["equation"] for row in ROWS}
    assert {f"Eq. {number}" for number in range(1, 16)} <= listed
