"""Modules as keys see them: what each statement defines, and the names that it reads."""

import ast
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager

from . import names
from .names import ALL, DEFINING, Chain

OURS = "bookbuild"  # the package that every book imports, wherever it lies
CELLS = "cells of a chapter"  # what stands for the name of their module
PARAMETERS = {"profile", "device", "seed"}  # of a chapter; the builder sets them by name


@cache
def folder_of() -> Path:
    """Return the folder of our package."""
    spec = find_spec(OURS)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@dataclass(frozen=True)
class Definition:
    """The statements that bind a name in a module."""

    statements: tuple[ast.stmt, ...]
    package: str
    cells: bool = False  # whether all variables are local ones

    @cached_property
    def code(self) -> str:
        """A digest of the code, whatever its formatting, docstrings, types and free names."""
        return _digest("\n".join(names.dumped(s, self.aliases) for s in self.statements))

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """What stands for each name that no other code can tell from another one."""
        free = names.aliases(self.statements, local=self.cells)
        return {name: alias for name, alias in free.items() if name not in PARAMETERS}

    def label(self, name: str) -> str:
        """What stands for one of the names that it binds, where that is read."""
        public = "" if names.is_private(name) else name
        return f"{self.code} {self.aliases.get(name, public)}"

    @cached_property
    def constants(self) -> Counter[tuple[str, ...]]:
        """The numbers and texts of its statements, as often as they stand there."""
        return Counter(part for s in self.statements for part in names.literals(s))

    @cached_property
    def uses(self) -> tuple[Chain, ...]:
        """The names that are read, with the attributes read from them and `*` for what follows."""
        types = {id(node) for node in self._types}
        nodes = [node for node in self._nodes if id(node) not in types]
        local = {place for s in self.statements for place in names.local_reads(s)}
        return tuple(sorted(set(names.chains(nodes, local))))

    @cached_property
    def uses_as_types(self) -> tuple[Chain, ...]:
        """The names that are read in types; what an argument can do lies there."""
        return tuple(sorted(set(names.chains(self._types))))

    @cached_property
    def imports(self) -> Mapping[str, tuple[Chain, ...]]:
        """What its own import statements bind, each name with what it may refer to."""
        return names.bindings(self._nodes, self.package)

    @cached_property
    def _nodes(self) -> list[ast.AST]:
        return [node for statement in self.statements for node in ast.walk(statement)]

    @cached_property
    def _types(self) -> list[ast.AST]:
        places = {place for s in self.statements for place in names.annotations(s)}
        return [part for node in self._nodes if id(node) in places for part in ast.walk(node)]


@dataclass(frozen=True)
class Module:
    """A module, or a package with its folder."""

    name: str
    folder: Path | None
    defined: Mapping[str, Definition]  # by name; that of `*` is what does more than define
    imports: Mapping[str, tuple[Chain, ...]]  # what each name that they bind may refer to
    loads: tuple[Chain, ...]  # what imports execute, as far as a module and an attribute tell

    @property
    def bound(self) -> set[str]:
        """All names that the module binds."""
        return {*self.defined, *self.imports} - {ALL}

    @cached_property
    def code(self) -> str:
        """A digest of all that it defines."""
        return _digest(" ".join(sorted(d.code for d in self.defined.values())))


class Sources:
    """The modules below a folder and our own package, and perhaps one more that has no file."""

    def __init__(self, folder: Path, *without_file: Module) -> None:
        self.folder = folder
        self._known: dict[str, Module | None] = {module.name: module for module in without_file}

    def find(self, name: str) -> Module | None:
        """Return a module or package; None for a name that is neither."""
        if name not in self._known:
            self._known[name] = self._read(name) if name else None
        return self._known[name]

    def place(self, name: str) -> Path:
        """Return where the folder of a module lies if it is a package."""
        outermost, *inner = name.split(".")
        package = self.folder / outermost
        if outermost == OURS and not package.is_dir():
            package = folder_of()
        return package.joinpath(*inner)

    def _read(self, name: str) -> Module | None:
        folder = self.place(name)
        init, alone = folder / "__init__.py", folder.with_name(f"{folder.name}.py")
        if init.is_file():
            return parse(init.read_bytes(), name, name, folder)
        if alone.is_file():
            return parse(alone.read_bytes(), name, name.rpartition(".")[0], None)
        return parse(b"", name, name, folder) if folder.is_dir() else None


@cache
def parse(content: bytes, name: str, package: str, folder: Path | None) -> Module:
    """Return a module; where Python could not run it, one that does nothing but hold its bytes."""
    try:
        body = ast.parse(content).body  # bytes, for a comment may declare their encoding
    except (SyntaxError, ValueError):
        call = ast.Expr(ast.Call(ast.Constant(content), [], []))
        body = ast.fix_missing_locations(ast.Module([call], [])).body
    binding: defaultdict[str, list[ast.stmt]] = defaultdict(list)
    importing: list[ast.stmt] = []
    for statement in body:
        bound, defines = _bound(statement)
        for each in bound if defines else {*bound, ALL}:
            binding[each].append(statement)
        if not defines or _imports(statement):
            importing.append(statement)
    nodes = [node for statement in importing for node in ast.walk(statement)]
    imports = names.bindings(nodes, package)
    return Module(
        name,
        folder,
        {each: Definition(tuple(those), package) for each, those in binding.items()},
        {each: targets for each, targets in imports.items() if each != ALL},
        names.loads(nodes, package),
    )


@cache
def together(cells: tuple[str, ...]) -> Module:
    """Return cells of a notebook as one module that runs them in turn.

    Of their checks it has the values alone; what is expected of these makes no number.
    """
    body: list[ast.stmt] = []
    for text in map(TransformerManager().transform_cell, cells):
        try:  # without what only a notebook understands
            body += map(names.Unbounded().visit, ast.parse(text).body)
        except (SyntaxError, ValueError):
            continue  # the cell will fail when it is executed, with a better message
    every = Definition(tuple(body), "", cells=True)
    return Module(CELLS, None, {ALL: every}, {}, names.loads(every._nodes, ""))


def _imports(statement: ast.stmt) -> bool:
    """Return whether a statement imports, or is there for type checkers or a module as program."""
    match statement:
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=[]):
            return True
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__")), orelse=[]):
            return True
    return False


def _bound(statement: ast.stmt) -> tuple[set[str], bool]:
    """Return the names that a statement binds, imports aside, and whether that is all it does."""
    if _imports(statement):  # `import *` binds whatever there is
        return set(), all(a.name != ALL for a in getattr(statement, "names", ()))
    nodes = list(ast.walk(statement))
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {statement.name}, True
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return set(), True
        case ast.Assign(targets=targets):
            return _assigned(targets)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return _assigned([target])
    return names.bound_names(nodes) | {
        node.name for node in nodes if isinstance(node, DEFINING)
    }, False


def _assigned(targets: Iterable[ast.expr]) -> tuple[set[str], bool]:
    """Return the names that an assignment binds, and whether that is all it does."""
    nodes = [node for target in targets for node in ast.walk(target)]
    plain = all(isinstance(n, ast.Name | ast.Tuple | ast.List | ast.Store) for n in nodes)
    return names.bound_names(nodes), plain


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
