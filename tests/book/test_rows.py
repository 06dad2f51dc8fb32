"""Every judged row and every check can fail: its number depends on a computation."""

import ast
import builtins
from collections import defaultdict
from functools import cache

import pytest

from tools.this_book import chapters, claims

# Calls that measure nothing: Python's own, sizes as they are chosen, arrays as they are written.
PLAIN = {
    *vars(builtins), "append", "arange", "array", "asarray", "astype", "choose", "items", "item",
    "keys", "linspace", "log", "seeds", "sqrt", "tensor", "tolist", "values",
}  # fmt: skip


@cache
def codes() -> dict[str, ast.Module]:
    """The code of each chapter."""
    return {
        chapter.name: ast.parse("\n".join(cell.source for cell in chapter.code))
        for chapter in chapters()
    }


def computed(tree: ast.Module, function: str) -> dict[str, bool]:
    """Whether what `report` or `check` is handed comes from a call that measures, by name."""
    sources = definitions(tree)
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    result: dict[str, bool] = {}
    for call in (call for call in calls if ast.unparse(call.func) == function):
        handed = {word.arg or "": word.value for word in call.keywords}
        if function == "check":
            handed = {ast.unparse(call.args[0]): call.args[1]}
        result |= {name: is_measured(value, sources) for name, value in handed.items()}
    return result


def definitions(tree: ast.Module) -> dict[str, list[ast.AST]]:
    """What each name may be made of: assigned values, ranges of loops, functions, what is added."""
    sources: dict[str, list[ast.AST]] = defaultdict(list)

    def bind(target: ast.AST, source: ast.AST) -> None:
        for name in (node for node in ast.walk(target) if isinstance(node, ast.Name)):
            sources[name.id].append(source)

    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    bind(target, value)
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                bind(target, value)
                if ast.unparse(value).endswith((".items()", ".values()")):  # may be changed
                    bind(value, target)
            case (
                ast.AugAssign(target=target, value=ast.AST() as value)
                | ast.AnnAssign(target=target, value=ast.AST() as value)
                | ast.NamedExpr(target=target, value=value)
            ):
                bind(target, value)
            case ast.FunctionDef():
                sources[node.name].append(node)
            case ast.Call(func=ast.Attribute(value=ast.Name() as owner, attr="append" | "extend")):
                sources[owner.id] += node.args
    return sources


def is_measured(value: ast.AST, sources: dict[str, list[ast.AST]]) -> bool:
    """Whether a value comes from a call that is not plain, through all names it is made of."""
    waiting, seen = [value], set()
    while waiting:
        for node in ast.walk(waiting.pop()):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called.rpartition(".")[2] not in PLAIN and called not in sources:
                    return True
            if isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                waiting += sources.get(node.id, [])
    return False


@pytest.mark.parametrize(
    ("code", "measured"),
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
def test_a_constant_is_told_from_a_measurement(code: str, measured: bool) -> None:
    assert computed(ast.parse(code), "report") == {"a": measured}


def test_what_is_judged_and_what_is_checked_is_computed_and_can_fail() -> None:
    reported = {name: computed(tree, "report") for name, tree in codes().items()}
    for name, claim in claims().items():
        if claim.expectation:
            assert reported[claim.chapter].get(claim.measure), name
            assert (claim.expectation.low, claim.expectation.high) != (0.0, 1.0), name
    checks = {name: computed(tree, "check") for name, tree in codes().items()}
    assert {name for name, found in checks.items() if not all(found.values())} == set()
