"""Names in a syntax tree: those that statements bind, import and read."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator

ALL = "*"  # the attribute that stands for all of them
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
DEFINING = FUNCTIONS | ast.ClassDef

Chain = tuple[str, ...]  # a name and attributes, or a module and attributes


def stored(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that are bound."""
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def docstrings(statement: ast.stmt) -> set[int]:
    """Return the places of the docstrings in a statement, and of their texts."""
    first = [
        node.body[0]
        for node in ast.walk(statement)
        if isinstance(node, DEFINING) and ast.get_docstring(node, clean=False) is not None
    ]
    return {id(part) for one in first for part in ast.walk(one)}


def bindings(nodes: Iterable[ast.AST], package: str) -> dict[str, tuple[Chain, ...]]:
    """Return the names that import statements bind, each with what it may refer to."""
    found: defaultdict[str, dict[Chain, None]] = defaultdict(dict)
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                found[alias.asname or whole][(whole,)] = None  # `import a.b` binds a
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                target = (_absolute(node, package), alias.name)
                found[alias.asname or alias.name][target] = None
    return {name: tuple(targets) for name, targets in found.items()}


def targets(nodes: Iterable[ast.AST], package: str) -> Iterator[Chain]:
    """Yield what import statements load: a module, and the attribute taken from it, if any."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name,) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((_absolute(node, package), alias.name) for alias in node.names)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    """Return the absolute name of the module a statement imports from."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    kept = parts[: len(parts) - node.level + 1]
    return ".".join([*kept, node.module] if node.module else kept)


def chains(nodes: Iterable[ast.AST]) -> Iterator[Chain]:
    """Yield each name that is read, with the attributes read from it and `*` for what follows."""
    every = list(nodes)
    within = {id(node.value) for node in every if isinstance(node, ast.Attribute)}
    for node in every:
        if isinstance(node, ast.ImportFrom) and any(a.name == ALL for a in node.names):
            yield (ALL, ALL)
        if id(node) in within or not isinstance(node, ast.Attribute | ast.Name):
            continue
        attributes = [ALL]
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            attributes.insert(0, inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            yield (inner.id, *attributes)


def identifiers(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield names, attributes, and texts, for those may name an attribute or a magic command."""
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
