"""The reference documents every public entry, names every argument, and its examples run.

A module is public where no part of its path begins with an underscore. Its public names are those
of its `__all__`, and without one the functions and classes that it defines without an underscore.
The command has its own help.
"""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import cache

import emergence
from tools.this_book import ROOT

PAGE = (ROOT / "book" / "reference.md").read_text(encoding="utf-8")
OF_RUNNING = {f"emergence.running.{x}" for x in ("devices", "loop", "memo", "cache", "records")}
OF_RUNNING.add("emergence.running.sweep")
SOURCE = re.compile(
    r"§\d|Eqs?\. \d|Apps?\. [A-F]|Fig|Theorem|Definition|Assumption|chapter|this book", re.I
)
CONSTANTS = {
    "emergence.subspace.NAMES", "emergence.subspace.INDUCTION_HEAD", "emergence.theory.UNIT",
    "emergence.training.SAMPLERS", "emergence.training.OUTPUTS", "emergence.training.Kind",
    "emergence.analysis.FORBIDDEN",
}  # fmt: skip


@cache
def modules():
    """All modules of the library by name."""
    found = pkgutil.walk_packages(emergence.__path__, "emergence.")
    return {info.name: importlib.import_module(info.name) for info in found}


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


@cache
def entries():
    """Every public entry by its name."""
    chosen = (
        module
        for name, module in modules().items()
        if name in OF_RUNNING or not re.search(r"\._|^emergence\.(running|command)", name)
    )
    return dict(entry for module in chosen for entry in public(module))


def documented():
    """Names of the entries of the page, in order."""
    module = ""
    for line in PAGE.splitlines():
        if result := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = result[1]
        elif result := re.match(r"\.\. (?:auto(?:function|class|data)|py:data):: (\S+)", line):
            yield f"{module}.{result[1]}"


def test_page_documents_exactly_the_public_entries():
    names = list(documented())
    assert len(names) == len(set(names))
    assert set(names) == entries().keys() | CONSTANTS


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
    lacking = {name: list(complaints(name, entry)) for name, entry in entries().items()}
    assert {name: those for name, those in lacking.items() if those} == {}


def test_examples_run_after_the_imports_of_the_page():
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {}
    exec(block, names)
    failed = [x for x, m in modules().items() if doctest.testmod(m, globs=dict(names)).failed]
    assert failed == []
