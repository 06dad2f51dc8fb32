"""Python sources as keys see them: code without comments, and the names that it imports."""

import ast
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

ALL = "*"  # the attribute that stands for all of them
# Code that names one of these may show sources: then a comment or a docstring can be a result.
READERS = {"__doc__", "help", "inspect", "linecache", "pydoc", "pinfo", "pinfo2", "psource"}

Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """What a source imports, as references: a module, a colon, and attributes from there on.

    `bindings` are the names that its imports bind, each with what it refers to, in order. `uses`
    are the references it makes, as far as attributes tell: `from a.b import c` and `c.d.e(x)` make
    `a.b:c` and `a.b:c.d.e.*`. `lazy` are the outermost packages that it imports in functions only.
    `only_binds` says that it consists of docstring, imports and `__all__`; `reads_sources`, that
    it may show or use the text of sources.
    """

    bindings: Mapping[str, tuple[str, ...]]
    uses: frozenset[str]
    lazy: frozenset[str]
    only_binds: bool
    reads_sources: bool


def extended(reference: str, attributes: str) -> str:
    """Return the reference to an attribute, or a chain of them, of what is referred to."""
    return f"{reference}{'' if reference.endswith(':') else '.'}{attributes}"


def top(reference: str) -> str:
    """Return the outermost package of what is referred to."""
    return reference.partition(":")[0].partition(".")[0]


@cache
def code_digest(content: bytes) -> str:
    """Return a checksum of a module's code; comments, formatting and docstrings do not change it.

    Line numbers are no part of it: a warning may name an old one.
    """
    tree = _tree(content)
    for node in ast.walk(tree):
        if isinstance(node, Definition) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return hashlib.sha256(ast.dump(tree).encode(errors="surrogatepass")).hexdigest()


@cache
def parse(content: bytes, package: str) -> Source:
    """Return what a module in this package imports."""
    return _source(_tree(content), package)


@cache
def parse_together(texts: tuple[str, ...]) -> Source:
    """Return what texts import one after another; those with a slip are left out."""
    body: list[ast.stmt] = []
    for text in texts:
        try:
            body += ast.parse(text).body
        except (SyntaxError, ValueError):
            continue  # the cell will fail when it is executed, with a better message
    return _source(ast.Module(body, []), "")


def _tree(content: bytes) -> ast.Module:
    """Return the parsed module; where Python could not run it, one that holds its bytes."""
    try:
        return ast.parse(content)  # bytes, for a comment may declare their encoding
    except (SyntaxError, ValueError):
        return ast.Module([ast.Expr(ast.Constant(content))], [])


def _source(tree: ast.Module, package: str) -> Source:
    nodes = list(ast.walk(tree))
    imports = list(_imports(nodes, package))
    bindings: defaultdict[str, list[str]] = defaultdict(list)
    for found in imports:
        bindings[found.name].append(found.target)
    reached = {
        extended(target, attributes)
        for name, attributes in _chains(nodes)
        for target in bindings.get(name, ())
    }
    tops = {when: {top(i.reference) for i in imports if i.lazy is when} for when in (True, False)}
    return Source(
        bindings={name: tuple(targets) for name, targets in bindings.items()},
        uses=frozenset({found.reference for found in imports} | reached),
        lazy=frozenset(tops[True] - tops[False]),
        only_binds=all(map(_only_binds, tree.body)),
        reads_sources=not READERS.isdisjoint({*_identifiers(nodes), *tops[True], *tops[False]}),
    )


class _Import(NamedTuple):
    """What a statement imports, the name it binds and what that refers to."""

    reference: str
    name: str
    target: str
    lazy: bool  # in a function


def _imports(nodes: Iterable[ast.AST], package: str) -> Iterator[_Import]:
    functions = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = {id(inner) for function in functions for inner in ast.walk(function)}
    for node in nodes:
        lazy = id(node) in inside
        if isinstance(node, ast.Import):
            for alias in node.names:
                reference = f"{alias.name}:"
                if alias.asname:
                    yield _Import(reference, alias.asname, reference, lazy)
                else:  # `import a.b` binds a
                    yield _Import(reference, top(reference), f"{top(reference)}:", lazy)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                reference = f"{_absolute(node, package)}:{alias.name}"
                yield _Import(reference, alias.asname or alias.name, reference, lazy)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    """Return the absolute name of the module a statement imports from."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    kept = parts[: len(parts) - node.level + 1]
    return ".".join([*kept, node.module] if node.module else kept)


def _chains(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield each name that is read, with the attributes read from it and `*` for what follows.

    Scopes are not told apart: a local name that is also an import's errs towards more.
    """
    within = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    for node in nodes:
        if id(node) in within or not isinstance(node, ast.Attribute | ast.Name):
            continue
        attributes = [ALL]
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            attributes.insert(0, inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            yield inner.id, ".".join(attributes)


def _identifiers(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield names, attributes, and texts, for those may name an attribute or a magic command."""
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _only_binds(statement: ast.stmt) -> bool:
    """Return whether a statement is a docstring, an import of names, or `__all__` spelt out."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str)
    if isinstance(statement, ast.Assign):
        literal = isinstance(statement.value, ast.List | ast.Tuple) and all(
            isinstance(item, ast.Constant) for item in statement.value.elts
        )
        return literal and [ast.unparse(target) for target in statement.targets] == ["__all__"]
    if isinstance(statement, ast.ImportFrom):
        return all(alias.name != ALL for alias in statement.names)
    return isinstance(statement, ast.Import)
