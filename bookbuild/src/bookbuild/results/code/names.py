"""Names in a syntax tree: those that statements bind, import and read, and those that are free.

A name is free if no other code can tell it from another one: that of a local variable, or of what
a module keeps to itself, `_like_this`.
"""

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

ALL = "*"  # the attribute that stands for all of them
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
DEFINING = FUNCTIONS | ast.ClassDef

SCOPES = DEFINING | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
# Code that reads one of these may find a variable by the text of its name.
NAME_READERS = {"dir", "eval", "exec", "globals", "locals", "vars"}

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


def annotations(statement: ast.stmt) -> set[int]:
    """Return the places of the types in a statement, but for those of a class's own fields."""
    fields = {
        id(field)
        for node in ast.walk(statement)
        if isinstance(node, ast.ClassDef)
        for field in node.body
    }
    found: list[ast.expr | None] = []
    for node in ast.walk(statement):
        if isinstance(node, FUNCTIONS):
            found.append(node.returns)
        elif isinstance(node, ast.arg) or (
            isinstance(node, ast.AnnAssign) and id(node) not in fields
        ):
            found.append(node.annotation)
    return {id(node) for node in found if node is not None}


def constants(statement: ast.stmt) -> Iterator[tuple[str, ...]]:
    """Yield the numbers and texts of each statement inside one, in their order, and what they name.

    With them stand the names of keywords, of fields and of public constants, for to exchange two
    values is another thing. A statement with none is left out, and so are docstrings and types.
    """
    left_out = docstrings(statement) | annotations(statement)
    every = list(ast.walk(statement))
    left_out |= {id(node.annotation) for node in every if isinstance(node, ast.AnnAssign)}
    bodies = [node.body for node in every if isinstance(node, ast.ClassDef)]
    fields = {id(field) for body in bodies for field in body} | {id(statement)}
    named = {id(node) for node in every if id(node) in fields and not isinstance(node, DEFINING)}
    for one in (node for node in every if isinstance(node, ast.stmt)):
        marks: list[str] = []
        waiting: list[ast.AST] = [] if id(one) in left_out else [one]
        while waiting:
            node = waiting.pop(0)
            if isinstance(node, ast.Constant):
                marks.append(repr(node.value))
            inner = [n for n in ast.iter_child_nodes(node) if not isinstance(n, ast.stmt)]
            waiting[:0] = [n for n in inner if id(n) not in left_out]
            if isinstance(node, ast.keyword):
                marks.append(str(node.arg))
        if marks:
            targets = sorted(stored(ast.walk(one))) if id(one) in named else []
            yield (" ".join(name for name in targets if not is_private(name)), *marks)


def is_private(name: str) -> bool:
    """Return whether a module keeps what has this name to itself."""
    return name.startswith("_") and not name.startswith("__") and name != "_"


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
    free = (stored(inside) | set(filter(is_private, read))) - of_others
    order = dict.fromkeys(name for name in read if name in free)
    return {name: f"name {place}" for place, name in enumerate(order)}


def _bound_otherwise(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names of parameters, definitions, imports, patterns, errors and fields."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case ast.arg(arg=name):
                found.add(name)
            case ast.Global(names=several) | ast.Nonlocal(names=several):
                found.update(several)
            case ast.Import(names=imported) | ast.ImportFrom(names=imported):
                found.update((a.asname or a.name).partition(".")[0] for a in imported)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.ClassDef(name=name, body=body):
                # fields, and what is assigned below an `if` in the body of the class
                rest = [s for s in body if not isinstance(s, DEFINING)]
                found |= {name} | stored(part for s in rest for part in ast.walk(s))
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                found.add(name)
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                found.add(name)
    return found


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


def chains(nodes: Iterable[ast.AST], local: Collection[int] = ()) -> Iterator[Chain]:
    """Yield each name that is read, with the attributes read from it and `*` for what follows.

    `local` are the places of names that are left out.
    """
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
        if id(inner) in local:
            continue
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            yield (inner.id, *attributes)


def local_reads(node: ast.AST, local: frozenset[str] = frozenset()) -> Iterator[int]:
    """Yield the places of names that are read from a variable or a parameter of a function."""
    if isinstance(node, ast.Name) and node.id in local:
        yield id(node)
    inner = local
    if isinstance(node, FUNCTIONS | ast.Lambda):
        scope = list(_own_scope(node))
        shared = {name for n in scope if isinstance(n, ast.Global) for name in n.names}
        parameters = {n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)}
        inner = (local | stored(scope) | parameters) - shared
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


def identifiers(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield names, attributes, and texts, for those may name an attribute or a magic command."""
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
