"""Names and code in a syntax tree: what statements bind, import, read and compute.

A name is free if no other code can tell it from another one: that of a local variable, or of what
a module keeps to itself, `_like_this`.
"""

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

ALL = "*"  # the attribute that stands for all of them
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
DEFINING = FUNCTIONS | ast.ClassDef
SCOPES = DEFINING | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
# Code that reads one of these may find a variable by the text of its name.
NAME_READERS = {"dir", "eval", "exec", "globals", "locals", "vars"}
CHECK = "check"  # the function whose text and bounds make no number

Chain = tuple[str, ...]  # a name and attributes, or a module and attributes


def bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that are bound."""
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def is_private(name: str) -> bool:
    """Return whether a module keeps what has this name to itself."""
    return name.startswith("_") and not name.startswith("__") and name != "_"


def annotations(statement: ast.stmt) -> set[int]:
    """Return the places of the types in a statement, but for those of a class's own fields."""
    nodes = list(ast.walk(statement))
    fields = {id(field) for n in nodes if isinstance(n, ast.ClassDef) for field in n.body}
    types = [node.returns for node in nodes if isinstance(node, FUNCTIONS)]
    types += [node.annotation for node in nodes if isinstance(node, ast.arg)]
    annotated = [n for n in nodes if isinstance(n, ast.AnnAssign) and id(n) not in fields]
    return {id(node) for node in (*types, *(n.annotation for n in annotated)) if node is not None}


def silent(statement: ast.stmt) -> set[int]:
    """Return the places of what computes nothing: types, and docstrings with their texts."""
    docstrings = [
        node.body[0]
        for node in ast.walk(statement)
        if isinstance(node, DEFINING) and ast.get_docstring(node, clean=False) is not None
    ]
    return annotations(statement) | {id(part) for text in docstrings for part in ast.walk(text)}


def literals(statement: ast.stmt) -> Iterator[tuple[str, ...]]:
    """Yield the numbers and texts of each statement inside one, in their order, and what they name.

    With them stand the names of keywords, of fields and of public constants, for to exchange two
    values is another thing. A statement with none is left out, and so are docstrings and types.
    """
    every = list(ast.walk(statement))
    left_out = silent(statement) | {id(n.annotation) for n in every if isinstance(n, ast.AnnAssign)}
    fields = {id(field) for n in every if isinstance(n, ast.ClassDef) for field in n.body}

    def marks(node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Constant):
            yield repr(node.value)
        if isinstance(node, ast.keyword):
            yield str(node.arg)
        for inner in ast.iter_child_nodes(node):
            if not isinstance(inner, ast.stmt) and id(inner) not in left_out:
                yield from marks(inner)

    for s in every:
        if isinstance(s, ast.stmt) and id(s) not in left_out and (marked := [*marks(s)]):
            named = (id(s) in fields or s is statement) and not isinstance(s, DEFINING)
            targets = sorted(bound_names(ast.walk(s))) if named else []
            yield (" ".join(name for name in targets if not is_private(name)), *marked)


def aliases(statements: Sequence[ast.stmt], *, local: bool = False) -> dict[str, str]:
    """Return what stands for each free name of statements, in the order in which they occur.

    With `local` all variables are, as in the cells of a chapter. A parameter is not free, for a
    caller may name it, nor is a name that is bound in more ways than by assignment.
    """
    nodes = [node for statement in statements for node in ast.walk(statement)]
    places = {place for statement in statements for place in annotations(statement)}
    in_types = {id(part) for node in nodes if id(node) in places for part in ast.walk(node)}
    read = [n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in in_types]
    if not NAME_READERS.isdisjoint(read):
        return {}
    functions = [node for node in nodes if isinstance(node, FUNCTIONS | ast.Lambda)]
    inside = nodes if local else [part for function in functions for part in ast.walk(function)]
    of_others = _bound_otherwise(node for node in nodes if local or node not in statements)
    free = (bound_names(inside) | set(filter(is_private, read))) - of_others
    order = dict.fromkeys(name for name in read if name in free)
    return {name: f"name {place}" for place, name in enumerate(order)}


def _bound_otherwise(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names of parameters, definitions, imports, patterns, errors and fields."""
    names: set[str] = set()
    for node in nodes:
        match node:
            case ast.Global(names=several) | ast.Nonlocal(names=several):
                names.update(several)
            case ast.Import(names=imported) | ast.ImportFrom(names=imported):
                names.update((a.asname or a.name).partition(".")[0] for a in imported)
            case ast.ClassDef(name=name, body=body):
                # fields, and what is assigned below an `if` in the body of the class
                rest = [s for s in body if not isinstance(s, DEFINING)]
                names |= {name} | bound_names(part for s in rest for part in ast.walk(s))
            case ast.arg(arg=name) | ast.MatchMapping(rest=str(name)):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                names.add(name)
            case ast.MatchStar(name=str(name)):
                names.add(name)
    return names


def imports(nodes: Iterable[ast.AST], package: str) -> Iterator[tuple[str, Chain, Chain]]:
    """Yield each name that import statements bind, what it may refer to, and what is loaded.

    Both are a module and, if one is taken from it, an attribute.
    """
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                yield alias.asname or whole, (whole,), (alias.name,)  # `import a.b` binds a
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            module = ".".join([*above, node.module] if node.module else above)
            for alias in node.names:
                yield alias.asname or alias.name, (module, alias.name), (module, alias.name)


def bindings(nodes: Iterable[ast.AST], package: str) -> dict[str, tuple[Chain, ...]]:
    """Return the names that import statements bind, each with what it may refer to."""
    bound: dict[str, dict[Chain, None]] = {}
    for name, target, _ in imports(nodes, package):
        bound.setdefault(name, {})[target] = None
    return {name: tuple(targets) for name, targets in bound.items()}


def loads(nodes: Iterable[ast.AST], package: str) -> tuple[Chain, ...]:
    """Return what import statements execute, as far as a module and an attribute tell."""
    return tuple(dict.fromkeys(loaded for *_, loaded in imports(nodes, package)))


def chains(nodes: Iterable[ast.AST], local: Collection[int] = ()) -> Iterator[Chain]:
    """Yield each name that is read, with the attributes read from it and `*` for what follows.

    `local` are the places of names that are left out.
    """
    every = list(nodes)
    within = {id(node.value) for node in every if isinstance(node, ast.Attribute)}
    for node in every:
        if isinstance(node, ast.ImportFrom) and any(a.name == ALL for a in node.names):
            yield (ALL, ALL)
        attributes: Chain = (ALL,)
        inner = None if id(node) in within else node
        while isinstance(inner, ast.Attribute):
            attributes, inner = (inner.attr, *attributes), inner.value
        match inner:
            case ast.Name(id=name, ctx=ast.Load()) if id(inner) not in local:
                yield (name, *attributes)


def local_reads(node: ast.AST, local: frozenset[str] = frozenset()) -> Iterator[int]:
    """Yield the places of names that are read from a variable or a parameter of a function."""
    if isinstance(node, ast.Name) and node.id in local:
        yield id(node)
    inner = local
    if isinstance(node, FUNCTIONS | ast.Lambda):
        scope = list(_own_scope(node))
        shared = {name for n in scope if isinstance(n, ast.Global) for name in n.names}
        parameters = {n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)}
        inner = (local | bound_names(scope) | parameters) - shared
    for name, value in ast.iter_fields(node):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield from local_reads(part, inner if name == "body" else local)


def _own_scope(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function that are in none of the scopes inside it."""
    body = function.body  # type: ignore[attr-defined]
    waiting = list(body) if isinstance(body, list) else [body]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, SCOPES):
            waiting += ast.iter_child_nodes(node)


class Unbounded(ast.NodeTransformer):
    """Leaves of each check in a statement the value alone, and not what is expected of it."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == CHECK:
            node.args = [part for part in node.args[1:2] if not isinstance(part, ast.Constant)]
            node.keywords = [part for part in node.keywords if part.arg == "over"]
        return node


def dumped(statement: ast.stmt, names: Mapping[str, str]) -> str:
    """Return what stands for the code of a statement, whatever does not decide what it computes.

    Imports are left out: which definition a name leads to is known, wherever it lies. What is empty
    is left out too, since newer versions of Python have more that can be. `names` are the aliases.
    """
    left_out = silent(statement)

    def plain(value: object) -> object:
        match value:
            case ast.Name(id=name) if name in names:
                return "Name", names[name], type(value.ctx).__name__
            case ast.AnnAssign() if id(value.annotation) in left_out:
                return plain(ast.Assign([value.target], value.value)) if value.value else None
            case ast.AST():
                fields = [(name, part) for name, part in ast.iter_fields(value)]
                if value is statement and is_private(getattr(value, "name", "")):
                    fields = [field for field in fields if field[0] != "name"]
                plain_fields = [(n, plain(part)) for n, part in fields if id(part) not in left_out]
                return type(value).__name__, [
                    field for field in plain_fields if field[1] not in (None, [])
                ]
            case list():
                parts = [plain(p) for p in value if id(p) not in left_out and not _imports(p)]
                return [part for part in parts if part is not None]
        return value

    return "" if _imports(statement) else repr(plain(statement))


def _imports(node: object) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)
