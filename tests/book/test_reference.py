"""The reference documents every public entry, names every argument, and its examples run.

A module is public where no part of its path begins with an underscore. Its public names are those
of its `__all__`, and without one the functions and classes that it defines without an underscore.
The command has its own help.
"""

import ast
import doctest
import importlib
import inspect
import math
import pkgutil
import re
from collections.abc import Iterator

import numpy as np
import sympy as sp
import torch

import emergence
from emergence import analysis, clock, fast, models, presets, subspace, tasks, theory, training
from emergence.experiments import captions, first_passage, silences
from emergence.proofs import intervals, reduced, residuals, speeds, tubes
from emergence.running import cache, devices, loop, memo, records, sweep
from emergence.theory import area, contexts, cross_entropy, laws, limits, positions
from tools.this_book import ROOT

PAGE = ROOT / "book" / "reference.md"
EMERGENCE = tuple(
    importlib.import_module(info.name)
    for info in pkgutil.walk_packages(emergence.__path__, "emergence.")
)
PUBLIC = tuple(
    module
    for module in EMERGENCE
    if not re.search(r"\._|^emergence\.(running|command)", module.__name__)
)
MODULES = (*PUBLIC, devices, loop, memo, cache, records, sweep)
SOURCE = re.compile(
    r"§\d|Eqs?\. \d|Apps?\. [A-F]|Fig|Theorem|Definition|Assumption|chapter|this book", re.I
)
CONSTANTS = {
    "emergence.subspace.NAMES", "emergence.subspace.INDUCTION_HEAD", "emergence.theory.UNIT",
    "emergence.training.SAMPLERS", "emergence.training.OUTPUTS", "emergence.training.Kind",
    "emergence.analysis.FORBIDDEN",
}  # fmt: skip
NAMES = {
    "math": math, "np": np, "sp": sp, "torch": torch, "analysis": analysis, "fast": fast,
    "models": models, "presets": presets, "subspace": subspace, "tasks": tasks, "theory": theory,
    "training": training, "captions": captions, "first_passage": first_passage,
    "silences": silences, "intervals": intervals, "reduced": reduced, "residuals": residuals,
    "speeds": speeds, "area": area, "contexts": contexts, "cross_entropy": cross_entropy,
    "laws": laws, "limits": limits, "cache": cache, "devices": devices, "loop": loop,
    "memo": memo, "positions": positions, "sweep": sweep, "clock": clock, "tubes": tubes,
}  # fmt: skip


def public(module):
    """Names and objects of the functions and classes that a module defines or exports."""
    listed = getattr(module, "__all__", None)
    for name, entry in vars(module).items():
        defined_here = (
            not name.startswith("_") and getattr(entry, "__module__", None) == module.__name__
        )
        chosen = defined_here if listed is None else name in listed
        if chosen and (inspect.isfunction(inspect.unwrap(entry)) or inspect.isclass(entry)):
            yield f"{module.__name__}.{name}", entry


def documented():
    """Names of the entries of the page, in order."""
    module = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if result := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = result[1]
        elif result := re.match(r"\.\. (?:auto(?:function|class|data)|py:data):: (\S+)", line):
            yield f"{module}.{result[1]}"


ENTRIES = dict(entry for module in MODULES for entry in public(module))


def test_page_documents_exactly_the_public_entries():
    names = list(documented())
    assert len(names) == len(set(names))
    assert set(names) == ENTRIES.keys() | CONSTANTS


def private_imports(tree: ast.Module, inside: str) -> list[str]:
    """Names and modules with an underscore that a file takes from elsewhere in the library."""
    result = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("emergence"):
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            result += [name for name in whole if "._" in name and not name.startswith(inside)]
    return result


def test_nobody_reaches_for_what_is_private():
    for path in (ROOT / "src").rglob("*.py"):
        package = ".".join(path.relative_to(ROOT / "src").parts[:2])
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert private_imports(tree, f"{package}.") == [], path
    planted = ast.parse("from emergence.theory import _flow")
    assert private_imports(planted, "chapters.beyond.") == ["emergence.theory._flow"]


def complaints(name: str, entry) -> Iterator[str]:
    """What the docstring of an entry lacks; the figures of the book are examples of what draws."""
    text = inspect.getdoc(entry) or ""
    intro = text.split("\n\n")
    if not intro[0].endswith(".") or "\n" in intro[0] or not SOURCE.search(" ".join(intro[:2])):
        yield "its first line is no sentence with its source"
    groups = re.findall(r"^ {4}(\w+(?:, \w+)*): \S", text, re.MULTILINE)
    described = {argument for group in groups for argument in group.split(", ")}
    if not getattr(entry, "_is_protocol", False):  # which nobody calls
        yield from set(inspect.signature(entry).parameters) - described
    draws = inspect.isclass(entry) or name.startswith("emergence.plotting.")
    returns = inspect.isclass(entry) or inspect.signature(entry).return_annotation is not None
    if returns and not draws and "\nReturns:\n" not in text:
        yield "it has no result"
    whole = inspect.getsource(entry)  # of a class, a method may say what it raises
    errors = whole if inspect.isclass(entry) else text.partition("\nRaises:\n")[2]
    yield from (error for error in raised(entry) if error not in errors)


def raised(entry) -> set[str]:
    """The built-in errors that the code of a function or of a class raises itself."""
    tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(entry)))
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    return {call.func.id for call in calls if isinstance(call, ast.Call)}


def test_a_docstring_has_source_arguments_result_and_errors():
    lacking = {name: list(complaints(name, entry)) for name, entry in ENTRIES.items()}
    assert {name: those for name, those in lacking.items() if those} == {}


def test_examples_run():
    assert [m.__name__ for m in EMERGENCE if doctest.testmod(m, globs=dict(NAMES)).failed] == []


def test_page_names_what_examples_need():
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    scope = {}
    exec(block, scope)
    assert {name: scope[name] for name in NAMES} == NAMES
