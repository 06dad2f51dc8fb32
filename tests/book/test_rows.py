"""Every judged row can fail: what is reported depends on a computation."""

import ast
import builtins
from collections.abc import Iterator
from functools import cache

import pytest

from bookbuild.source.chapters import read_chapter
from tools.this_book import ROOT, chapters, claims

# Calls that measure nothing: Python's own, sizes as they are chosen, arrays as they are written.
PLAIN = {
    *vars(builtins), "append", "arange", "array", "asarray", "astype", "choose", "items", "item",
    "keys", "linspace", "log", "seeds", "sqrt", "tensor", "tolist", "values",
}  # fmt: skip


@cache
def judged_rows():
    return {name: claim for name, claim in claims().items() if claim.expectation}


@cache
def reports(chapter):
    """The measures that a chapter reports, and the calls that each value comes from."""
    cells = read_chapter(ROOT, chapter).code
    return dict(reported(ast.parse("\n".join(cell.source for cell in cells))))


def reported(tree: ast.Module) -> Iterator[tuple[str, set[str]]]:
    """Each reported measure, and the calls that its value comes from."""
    sources = definitions(tree)
    for call in calls_of(tree, "report"):
        yield from ((word.arg, calls_behind(word.value, sources)) for word in call.keywords)


def checked(tree: ast.Module) -> Iterator[tuple[str, set[str]]]:
    """Each check, and the calls that its number comes from."""
    sources = definitions(tree)
    for call in calls_of(tree, "check"):
        what, value = call.args
        yield ast.unparse(what), calls_behind(value, sources)


def calls_of(tree: ast.Module, function: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == function:
            yield node


def definitions(tree: ast.Module) -> dict[str, list[ast.AST]]:
    """What each name of the chapter may be made of: assigned values, loops' ranges, functions."""
    sources: dict[str, list[ast.AST]] = {}

    def bind(target: ast.AST, source: ast.AST) -> None:
        for name in ast.walk(target):
            if isinstance(name, ast.Name):
                sources.setdefault(name.id, []).append(source)

    for node in ast.walk(tree):
        match node:
            case ast.Assign():
                for target in node.targets:
                    bind(target, node.value)
            case ast.AugAssign() | ast.AnnAssign() if node.value is not None:
                bind(node.target, node.value)
            case ast.For():
                bind(node.target, node.iter)
                if ast.unparse(node.iter).endswith((".items()", ".values()")):  # may be changed
                    bind(node.iter, node.target)
            case ast.comprehension():
                bind(node.target, node.iter)
            case ast.NamedExpr():
                bind(node.target, node.value)
            case ast.FunctionDef():
                sources.setdefault(node.name, []).append(node)
            case ast.Call(func=ast.Attribute(value=ast.Name() as owner, attr="append" | "extend")):
                sources.setdefault(owner.id, []).extend(node.args)
    return sources


def calls_behind(value: ast.AST, made: dict[str, list[ast.AST]]) -> set[str]:
    """The calls that a value comes from, through all names that it is made of, plain ones aside."""
    waiting, seen, calls = [value], set(), set()
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called.rpartition(".")[2] not in PLAIN and called not in made:
                    calls.add(called)
            if isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                waiting += made.get(node.id, [])
    return calls


@pytest.mark.parametrize(
    ("code", "computed"),
    [
        ("report(a=True)", False),
        ("report(a=len(NAMES))", False),
        ("x = [1, 2]\nreport(a=max(x) < 3)", False),
        ("x = choose(lib.PRESET, profile)\nreport(a=max(np.array(x.sizes)) > 3)", False),
        ("x = lib.measured(3)\nreport(a=float(x) < 3)", True),
        ("def f(x):\n    return lib.measured(x)\nreport(a=[f(s) for s in range(3)])", True),
        ("found = []\nfound.append(lib.measured(1))\nreport(a=found)", True),
    ],
)
def test_a_constant_is_told_from_a_measurement(code, computed):
    ((name, calls),) = reported(ast.parse(code))
    assert (name, bool(calls)) == ("a", computed)


def test_what_is_judged_is_computed():
    """No row is a constant such as `True` or the length of a list of names."""
    constant, missing = [], []
    for name, claim in judged_rows().items():
        found = reports(claim.chapter)
        if claim.measure not in found:
            missing.append(name)
        elif not found[claim.measure]:
            constant.append(name)
    assert missing == [], "their chapters do not report these rows"
    assert constant == [], "these rows come from no computation"


def test_what_is_checked_is_computed():
    for chapter in chapters():
        tree = ast.parse("\n".join(cell.source for cell in chapter.code))
        assert [what for what, calls in checked(tree) if not calls] == [], chapter.name


def test_an_expectation_excludes_something():
    """Bounds are not those of every share."""
    for name, claim in judged_rows().items():
        assert (claim.expectation.low, claim.expectation.high) != (0.0, 1.0), name
