"""The reference documents every public entry, names every argument, and its examples run.

A module is public where no part of its path begins with an underscore. Its public names are those
of its `__all__`, and without one the functions and classes that it defines without an underscore.
"""

import ast
import doctest
import importlib
import inspect
import math
import pkgutil
import re

import numpy as np
import pytest
import sympy as sp
import torch

import emergence
from emergence import analysis, clock, fast, models, presets, subspace, tasks, theory, training
from emergence.experiments import captions, first_passage, silences
from emergence.proofs import intervals, reduced, residuals, speeds
from emergence.theory import area, contexts, cross_entropy, laws, limits, positions
from running import cache, devices, loop, records, sweep
from tools.this_book import ROOT

MOVED = "emergence._moved"  # which all packages read
PAGE = ROOT / "book" / "reference.md"
EMERGENCE = tuple(
    importlib.import_module(info.name)
    for info in pkgutil.walk_packages(emergence.__path__, "emergence.")
)
PUBLIC = tuple(module for module in EMERGENCE if "._" not in module.__name__)
MODULES = (*PUBLIC, devices, loop, cache, records, sweep)
SOURCE = re.compile(
    r"§\d|Eqs?\. \d|Apps?\. [A-F]|Fig|Theorem|Definition|Assumption|chapter|this book", re.I
)
CONSTANTS = {
    "emergence.subspace.NAMES", "emergence.subspace.INDUCTION_HEAD", "emergence.theory.UNIT",
    "emergence.training.SAMPLERS", "emergence.training.OUTPUTS", "emergence.analysis.FORBIDDEN",
}  # fmt: skip
NAMES = {
    "math": math, "np": np, "sp": sp, "torch": torch, "analysis": analysis, "fast": fast,
    "models": models, "presets": presets, "subspace": subspace, "tasks": tasks, "theory": theory,
    "training": training, "captions": captions, "first_passage": first_passage,
    "silences": silences, "intervals": intervals, "reduced": reduced, "residuals": residuals,
    "speeds": speeds, "area": area, "contexts": contexts, "cross_entropy": cross_entropy,
    "laws": laws, "limits": limits, "cache": cache, "devices": devices, "loop": loop,
    "positions": positions, "sweep": sweep, "clock": clock,
}  # fmt: skip


def public(module):
    """Names and objects of the functions and classes that a module defines or exports."""
    listed = getattr(module, "__all__", None)
    for name, entry in vars(module).items():
        own = not name.startswith("_") and getattr(entry, "__module__", None) == module.__name__
        chosen = own if listed is None else name in listed
        if chosen and (inspect.isfunction(inspect.unwrap(entry)) or inspect.isclass(entry)):
            yield f"{module.__name__}.{name}", entry


def documented():
    """Names of the entries of the page, in order."""
    module = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = found[1]
        elif found := re.match(r"\.\. (?:auto(?:function|class|data)|py:data):: (\S+)", line):
            yield f"{module}.{found[1]}"


ENTRIES = dict(entry for module in MODULES for entry in public(module))


def test_page_documents_exactly_the_public_entries():
    names = list(documented())
    assert len(names) == len(set(names))
    assert set(names) == ENTRIES.keys() | CONSTANTS


def test_the_interface_is_one_that_can_be_learnt():
    assert 120 <= len(ENTRIES) <= 180


def test_packages_export_names_that_they_have():
    for module in PUBLIC:
        for name in getattr(module, "__all__", ()):
            assert hasattr(module, name), f"{module.__name__}.{name}"


def private_imports(tree: ast.Module, inside: str) -> list[str]:
    """Names and modules with an underscore that a file takes from elsewhere in the library."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("emergence"):
            whole = [f"{node.module}.{alias.name}" for alias in node.names if node.module != MOVED]
            found += [name for name in whole if "._" in name and not name.startswith(inside)]
    return found


def test_nobody_reaches_for_what_is_private():
    for path in (ROOT / "src").rglob("*.py"):
        package = ".".join(path.relative_to(ROOT / "src").parts[:2])
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert private_imports(tree, f"{package}.") == [], path
    planted = ast.parse("from emergence.theory import _flow")
    assert private_imports(planted, "chapters.beyond.") == ["emergence.theory._flow"]


@pytest.mark.parametrize("name", ENTRIES)
def test_docstring_names_every_argument_and_has_an_example(name):
    """What draws says what it draws, and the figures of the chapters are its examples."""
    entry = ENTRIES[name]
    text = inspect.getdoc(entry) or ""
    described = set(re.findall(r"^ {4}(\w+): \S", text, re.MULTILINE))
    if not getattr(entry, "_is_protocol", False):  # which nobody calls
        assert set(inspect.signature(entry).parameters) <= described
    if not inspect.isclass(entry) and not name.startswith("emergence.plotting."):
        assert "\nReturns:\n" in text
        assert ">>> " in text


def raised(entry) -> set[str]:
    """The built-in errors that the code of a function or of a class raises itself."""
    tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(entry)))
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    return {call.func.id for call in calls if isinstance(call, ast.Call)}


@pytest.mark.parametrize("name", ENTRIES)
def test_docstring_names_every_error_that_the_code_raises(name):
    text = inspect.getdoc(ENTRIES[name]) or ""
    section = text.partition("\nRaises:\n")[2]
    whole = inspect.getsource(ENTRIES[name])  # of a class, a method may say it
    for error in raised(ENTRIES[name]):
        assert error in (whole if inspect.isclass(ENTRIES[name]) else section)


@pytest.mark.parametrize("name", ENTRIES)
def test_first_line_is_one_sentence_with_its_source(name):
    intro = (inspect.getdoc(ENTRIES[name]) or "").split("\n\n")
    assert intro[0].endswith(".")
    assert "\n" not in intro[0]
    assert SOURCE.search(" ".join(intro[:2]))


@pytest.mark.parametrize(
    "module", [*EMERGENCE, *MODULES[len(PUBLIC) :]], ids=lambda module: module.__name__
)
def test_examples_run(module):
    found = doctest.testmod(module, globs=dict(NAMES))
    assert not found.failed


def test_page_names_what_examples_need():
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    scope = {}
    exec(block, scope)
    assert {name: scope[name] for name in NAMES} == NAMES
