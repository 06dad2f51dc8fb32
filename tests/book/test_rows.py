"""Every judged row can fail: what is reported depends on a computation."""

import ast
import builtins
import re
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
    """The reports of a chapter: a pattern for its keys, and what its value is made of."""
    cells = read_chapter(ROOT, chapter).code
    return list(reported(ast.parse("\n".join(cell.source for cell in cells))))


def reported(tree: ast.Module) -> Iterator[tuple[re.Pattern[str], set[str]]]:
    """For each report a pattern that its key fits, and the calls that its value comes from."""
    sources = definitions(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "report":
            key, value = node.args[:2]
            yield pattern(key), calls_behind(value, sources)


def checked(tree: ast.Module) -> Iterator[tuple[str, set[str]]]:
    """For each check of a number, and not of a reported key, the calls that it comes from."""
    sources = definitions(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "check":
            what, value = node.args[:2]
            if not isinstance(value, ast.Constant | ast.JoinedStr):
                yield ast.unparse(what), calls_behind(value, sources)


def pattern(key: ast.expr) -> re.Pattern[str]:
    """A pattern of the keys that an expression may give; a formatted part may be anything."""
    if isinstance(key, ast.Constant):
        return re.compile(re.escape(key.value))
    if isinstance(key, ast.JoinedStr):
        parts = (
            re.escape(part.value) if isinstance(part, ast.Constant) else r"\w+"
            for part in key.values
        )
        return re.compile("".join(parts))
    return re.compile(r"\w+")


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
        ("report('a', True)", False),
        ("report('a', len(NAMES))", False),
        ("x = [1, 2]\nreport('a', max(x) < 3)", False),
        ("x = 2\nfor y in range(x):\n    report(f'a_{y}', float(y))", False),
        ("x = choose(lib.PRESET, profile)\nreport('a', max(np.array(x.sizes)) > 3)", False),
        ("x = lib.measured(3)\nreport('a', float(x) < 3)", True),
        ("def f(x):\n    return lib.measured(x)\nreport('a', [f(s) for s in range(3)])", True),
        ("found = []\nfound.append(lib.measured(1))\nreport('a', found)", True),
    ],
)
def test_a_constant_is_told_from_a_measurement(code, computed):
    ((key, calls),) = reported(ast.parse(code))
    assert bool(calls) == computed
    assert key.fullmatch("a" if "a_" not in code else "a_1")


def test_what_is_judged_is_computed():
    """No row is a constant such as `True` or the length of a list of names."""
    constant, missing = [], []
    for name, claim in judged_rows().items():
        result = [calls for key, calls in reports(claim.chapter) if key.fullmatch(claim.measure)]
        if not result:
            missing.append(name)
        elif not any(result):
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
