"""What stands for the code of a statement, whatever does not decide what it computes."""

import ast
from collections.abc import Mapping

from . import names

CHECK = "check"  # the function whose text and bounds make no number


def unbounded(statement: ast.stmt) -> ast.stmt:
    """Return a statement without what its checks expect of numbers; the numbers are left."""
    changed: ast.stmt = _Unbounded().visit(statement)
    return changed


class _Unbounded(ast.NodeTransformer):
    """Leaves of each check the value alone."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == CHECK:
            node.args = [one for one in node.args[1:2] if not isinstance(one, ast.Constant)]
            node.keywords = [one for one in node.keywords if one.arg == "over"]
        return node


def dumped(statement: ast.stmt, aliases: Mapping[str, str]) -> str:
    """Return what stands for the code of a statement.

    Imports are left out: which definition a name leads to is known, wherever it lies. What is empty
    is left out too, since newer versions of Python have more that can be.
    """
    left_out = names.docstrings(statement) | names.annotations(statement)

    def plain(value: object) -> object:
        match value:
            case ast.Name(id=name) if name in aliases:
                return "Name", aliases[name], type(value.ctx).__name__
            case ast.AnnAssign() if id(value.annotation) in left_out:
                return plain(ast.Assign([value.target], value.value)) if value.value else None
            case ast.AST():
                fields = [(name, part) for name, part in ast.iter_fields(value)]
                if value is statement and names.is_private(getattr(value, "name", "")):
                    fields = [field for field in fields if field[0] != "name"]
                told = [(n, plain(part)) for n, part in fields if id(part) not in left_out]
                return type(value).__name__, [field for field in told if field[1] not in (None, [])]
            case list():
                parts = [plain(p) for p in value if id(p) not in left_out and not _imports(p)]
                return [part for part in parts if part is not None]
        return value

    return "" if _imports(statement) else repr(plain(statement))


def _imports(node: object) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)
