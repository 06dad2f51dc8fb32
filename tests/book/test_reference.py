"""The reference documents every public entry, names every argument, and its examples run."""

import doctest
import importlib
import inspect
import pkgutil
import re

import numpy as np
import pytest
import torch

from emergence import fast, models, subspace, tasks, theory, training
from emergence.theory import area, positions
from running import sweep
from this_book import ROOT

PAGE = ROOT / "book" / "reference.md"
MODULES = (tasks, models, fast, subspace, theory, area, positions, training, sweep)
SOURCE = re.compile(
    r"§\d|Eqs?\. \d|Apps?\. [A-F]|Theorem|Definition|Assumption|chapter|this book", re.I
)
CONSTANTS = {"emergence.subspace.NAMES", "emergence.subspace.INDUCTION_HEAD"}
NAMES = {
    "np": np, "torch": torch, "fast": fast, "models": models, "subspace": subspace,
    "tasks": tasks, "theory": theory, "training": training, "sweep": sweep, "area": area,
    "positions": positions,
}  # fmt: skip


def public(module):
    """Names and objects of the functions and classes that a module defines or exports."""
    for name, entry in vars(module).items():
        listed = name in getattr(module, "__all__", ())
        own = not name.startswith("_") and getattr(entry, "__module__", None) == module.__name__
        if (listed or own) and (inspect.isfunction(entry) or inspect.isclass(entry)):
            yield f"{module.__name__}.{name}", entry


def documented():
    """Names of the entries of the page, in order."""
    module = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = found[1]
        elif found := re.match(r"\.\. auto(?:function|class|data):: (\S+)", line):
            yield f"{module}.{found[1]}"


def parts():
    """The public modules, and those of which packages among them consist."""
    for module in MODULES:
        yield module
        for info in pkgutil.iter_modules(getattr(module, "__path__", [])):
            yield importlib.import_module(f"{module.__name__}.{info.name}")


ENTRIES = dict(entry for module in MODULES for entry in public(module))


def test_page_documents_exactly_the_public_entries():
    names = list(documented())
    assert len(names) == len(set(names))
    assert set(names) == ENTRIES.keys() | CONSTANTS


@pytest.mark.parametrize("name", ENTRIES)
def test_docstring_names_every_argument_and_has_an_example(name):
    entry = ENTRIES[name]
    text = inspect.getdoc(entry) or ""
    described = set(re.findall(r"^ {4}(\w+): \S", text, re.MULTILINE))
    assert set(inspect.signature(entry).parameters) <= described
    if inspect.isfunction(entry):
        assert "\nReturns:\n" in text
        assert ">>> " in text


@pytest.mark.parametrize("name", ENTRIES)
def test_first_line_is_one_sentence_with_its_source(name):
    intro = (inspect.getdoc(ENTRIES[name]) or "").split("\n\n")
    assert intro[0].endswith(".")
    assert "\n" not in intro[0]
    assert SOURCE.search(" ".join(intro[:2]))


@pytest.mark.parametrize("module", list(parts()), ids=lambda module: module.__name__)
def test_examples_run(module):
    found = doctest.testmod(module, globs=dict(NAMES))
    assert not found.failed


def test_page_names_what_examples_need():
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    scope = {}
    exec(block, scope)
    assert {name: scope[name] for name in NAMES} == NAMES
