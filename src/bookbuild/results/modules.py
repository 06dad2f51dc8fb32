"""Modules as keys see them: what each statement defines, and the names that it reads."""

import ast
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ALL = "*"  # the attribute that stands for all of them
# Code that names one of these may show sources: then a comment or a docstring can be a result.
READERS = {"__doc__", "help", "inspect", "linecache", "pydoc", "pinfo", "pinfo2", "psource"}
DEFINING = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

Chain = tuple[str, ...]  # a name and attributes, or a module and attributes


@dataclass(frozen=True)
class Definition:
    """The statements that bind a name in a module."""

    statements: tuple[ast.stmt, ...]
    source: str  # of the whole module
    package: str

    @cached_property
    def code(self) -> str:
        """A digest of the code; comments, formatting and docstrings do not change it."""
        return _digest("\n".join(map(_dumped, self.statements)))

    @cached_property
    def text(self) -> str:
        """A digest of the lines, with comments and docstrings."""
        lines = self.source.splitlines()
        return _digest("\n".join(str(lines[_first(s) : s.end_lineno]) for s in self.statements))

    @cached_property
    def uses(self) -> tuple[Chain, ...]:
        """The names that are read, with the attributes read from them and `*` for what follows.

        Scopes are not told apart: a local name that is also the module's errs towards more.
        """
        return tuple(sorted(set(_chains(self._nodes))))

    @cached_property
    def imports(self) -> Mapping[str, tuple[Chain, ...]]:
        """What its own import statements bind, each name with what it may refer to."""
        return _bindings(self._nodes, self.package)

    @cached_property
    def reads_sources(self) -> bool:
        """Whether it may show or use the text of sources."""
        named = {*_identifiers(self._nodes)}
        named |= {target[0].partition(".")[0] for ts in self.imports.values() for target in ts}
        return not READERS.isdisjoint(named)

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        return [node for statement in self.statements for node in ast.walk(statement)]


@dataclass(frozen=True)
class Module:
    """A module, or a package with its folder.

    Attributes:
        defined: the definition of each name; that of `*` is what does more than define.
        imports: the names that its imports bind, each with what it may refer to.
        loads: what its imports execute, as far as a module and an attribute tell.
    """

    name: str
    folder: Path | None
    defined: Mapping[str, Definition]
    imports: Mapping[str, tuple[Chain, ...]]
    loads: tuple[Chain, ...]

    @property
    def bound(self) -> set[str]:
        """All names that the module binds."""
        return {*self.defined, *self.imports} - {ALL}

    @cached_property
    def code(self) -> str:
        """A digest of all that it defines."""
        return _digest(" ".join(self.defined[name].code for name in sorted(self.defined)))


@cache
def parse(content: bytes, name: str, package: str, folder: Path | None) -> Module:
    """Return a module; where Python could not run it, one that does nothing but hold its bytes."""
    try:
        tree = ast.parse(content)  # bytes, for a comment may declare their encoding
    except (SyntaxError, ValueError):
        call = ast.Expr(ast.Call(ast.Constant(content), [], []))
        tree = ast.fix_missing_locations(ast.Module([call], []))
    text = content.decode("utf-8", errors="replace")
    own: defaultdict[str, list[ast.stmt]] = defaultdict(list)
    importing: list[ast.stmt] = []
    for statement in tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom) or _for_types(statement):
            importing.append(statement)
            starred = any(a.name == ALL for a in getattr(statement, "names", ()))
            if starred:  # whatever it binds
                own[ALL].append(statement)
            continue
        bound, defines = _bound(statement)
        for each in bound if defines else {*bound, ALL}:
            own[each].append(statement)
        if not defines:
            importing.append(statement)
    nodes = [node for statement in importing for node in ast.walk(statement)]
    imports = _bindings(nodes, package)
    return Module(
        name,
        folder,
        {each: Definition(tuple(those), text, package) for each, those in own.items()},
        {each: targets for each, targets in imports.items() if each != ALL},
        tuple(dict.fromkeys(_targets(nodes, package))),
    )


@cache
def parse_together(texts: tuple[str, ...], name: str) -> Module:
    """Return texts as one module that runs them in turn; those with a slip are left out."""
    body: list[ast.stmt] = []
    for text in texts:
        try:
            body += ast.parse(text).body
        except (SyntaxError, ValueError):
            continue  # the cell will fail when it is executed, with a better message
    nodes = list(ast.walk(ast.Module(body, [])))
    every = Definition(tuple(body), "\n".join(texts), "")
    return Module(name, None, {ALL: every}, {}, tuple(dict.fromkeys(_targets(nodes, ""))))


def _dumped(statement: ast.stmt) -> str:
    """Return what stands for the code of a statement: neither docstrings nor line numbers.

    What is empty is left out, since newer versions of Python have more that can be.
    """
    docstrings = {
        id(node.body[0])
        for node in ast.walk(statement)
        if isinstance(node, DEFINING) and ast.get_docstring(node, clean=False) is not None
    }

    def plain(value: object) -> object:
        if isinstance(value, ast.AST):
            fields = [(name, plain(part)) for name, part in ast.iter_fields(value)]
            return type(value).__name__, [field for field in fields if field[1] not in (None, [])]
        if isinstance(value, list):
            return [plain(part) for part in value if id(part) not in docstrings]
        return value

    return repr(plain(statement))


def _first(statement: ast.stmt) -> int:
    """Return where the lines of a statement begin, with its decorators."""
    decorators = getattr(statement, "decorator_list", [])
    return min(node.lineno for node in (statement, *decorators)) - 1


def _for_types(statement: ast.stmt) -> bool:
    """Return whether a statement is there for type checkers, or for a module that is executed."""
    match statement:
        case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=[]):
            return True
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__")), orelse=[]):
            return True
    return False


def _bound(statement: ast.stmt) -> tuple[set[str], bool]:
    """Return the names that a statement binds, and whether that is all it does."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {statement.name}, True
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return set(), True
        case ast.Assign(targets=targets):
            return _assigned(targets)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return _assigned([target])
    nodes = list(ast.walk(statement))
    return _stored(nodes) | {node.name for node in nodes if isinstance(node, DEFINING)}, False


def _assigned(targets: Iterable[ast.expr]) -> tuple[set[str], bool]:
    """Return the names that an assignment binds, and whether that is all it does."""
    nodes = [node for target in targets for node in ast.walk(target)]
    plain = all(isinstance(n, ast.Name | ast.Tuple | ast.List | ast.Store) for n in nodes)
    return _stored(nodes), plain


def _stored(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that are bound."""
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _bindings(nodes: Iterable[ast.AST], package: str) -> dict[str, tuple[Chain, ...]]:
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


def _targets(nodes: Iterable[ast.AST], package: str) -> Iterator[Chain]:
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


def _chains(nodes: Iterable[ast.AST]) -> Iterator[Chain]:
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


def _identifiers(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield names, attributes, and texts, for those may name an attribute or a magic command."""
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
