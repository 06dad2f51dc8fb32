"""Modules define when they are imported, and do nothing else.

Keys rely on it: a chapter does not depend on a module that is imported only because a package
binds names of it (`bookbuild.results.imports`). `plotting`, which sets a style, is excepted, for
its `__init__` counts whole.
"""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tools.this_book import ROOT

SRC = ROOT / "src"
ROOMS = ("running", "emergence", "chapters")
MODULES = [
    path
    for room in ROOMS
    for path in sorted((SRC / room).rglob("*.py"))
    if "plotting" not in path.parts and path.stem != "__main__"  # which is started, not imported
]
DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
# What is called where a module is imported, besides its own functions and classes, and those of
# `emergence` that it imports: they make a value and leave everything else as it is.
PURE = {
    "ParamSpec", "Path", "TypeVar", "cache", "classmethod", "contextmanager", "dataclass",
    "dataclasses.dataclass", "dataclasses.field", "field", "frozenset", "functools.cache",
    "get_args", "math.factorial", "name.startswith",
    "np.arange", "np.array", "once_differentiable", "property", "range", "re.compile", "replace",
    "runtime_checkable", "slice", "sp.IndexedBase", "sp.Matrix", "sp.Rational", "sp.Symbol",
    "sp.erf", "sp.erfi", "sp.sqrt", "sp.symbols", "staticmethod", "torch.device", "torch.no_grad",
    "tuple",
    "logging.getLogger",  # makes an entry in a register, where the next who asks finds the same
}  # fmt: skip


def test_modules_are_found():
    assert len(MODULES) > 100


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SRC)))
def test_a_module_only_defines(path):
    tree = ast.parse(path.read_bytes())
    assert [ast.unparse(statement) for statement in effects(tree.body)] == []
    known = PURE | bound_here(tree)
    calls = {ast.unparse(call) for call in called(tree.body)} - known
    assert {call for call in calls if call.split(".")[0] not in known} == set()


STATE = """
import importlib, json, logging, os, random, sys, warnings
import flint, jaxtyping, IPython, matplotlib, numpy, scipy.integrate, scipy.optimize, scipy.special
import scipy.stats, sympy, torch

def state():
    return repr([
        torch.get_default_dtype(), torch.get_num_threads(), torch.get_num_interop_threads(),
        torch.get_rng_state().tolist(), torch.is_grad_enabled(), torch.get_default_device(),
        torch.are_deterministic_algorithms_enabled(), torch.get_float32_matmul_precision(),
        torch.backends.cudnn.benchmark, torch.is_anomaly_enabled(),
        numpy.random.get_state(), numpy.geterr(), numpy.get_printoptions(), random.getstate(),
        warnings.filters, dict(os.environ), dict(matplotlib.rcParams), sys.path,
        sys.getrecursionlimit(), sys.excepthook, logging.root.level, logging.root.handlers,
    ])

before = state()
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
    assert state() == before, name
"""


def test_importing_all_modules_changes_no_global_state():
    """Seen from outside: what a call of their own functions may hide."""
    drawing = "emergence.plotting"  # they import it, and so count with it
    paths = [path for path in MODULES if drawing not in path.read_text(encoding="utf-8")]
    names = [".".join(path.relative_to(SRC).with_suffix("").parts) for path in paths]
    names = [name.removesuffix(".__init__") for name in names]
    assert len(names) > 100
    run = subprocess.run(
        [sys.executable, "-c", STATE, json.dumps(names)],
        cwd=SRC,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    "code",
    [
        "print()",
        "plt.style.use('x')",
        "torch.set_num_threads(1)",
        "for x in y: pass",
        "with x: pass",
        "try:\n    import y\nexcept ImportError:\n    pass",
        "x.y = 1",
        "x['y'] = 1",
        "x += [1]",
        "del x",
        "class C:\n    print()",
        "if x: import y",
    ],
)
def test_an_effect_is_seen(code):
    assert list(effects(ast.parse(code).body))


@pytest.mark.parametrize(
    "code",
    [
        "x = torch.set_default_dtype(y)",
        "x: int = np.random.seed(0)",
        "def f(x=plt.style.use('y')): pass",
        "@register\ndef f(): pass",
        "@atexit.register\nclass C: pass",
        "class C:\n    x = warnings.filterwarnings('error')",
        "class C(made()): pass",
        "x = [f(y) for y in z]",
    ],
)
def test_a_call_is_seen(code):
    assert {ast.unparse(call) for call in called(ast.parse(code).body)} - PURE


def effects(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that do more than define."""
    for statement in body:
        match statement:
            case ast.Import() | ast.ImportFrom() | ast.FunctionDef() | ast.AsyncFunctionDef():
                continue
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                continue
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=[]):
                continue
            case ast.ClassDef():
                yield from effects(statement.body)
            case ast.Assign(targets=targets) if all(map(is_name, targets)):
                continue
            case ast.AnnAssign(target=ast.Name()):
                continue
            case _:
                yield statement


def is_name(target: ast.expr) -> bool:
    match target:
        case ast.Tuple(elts=parts):
            return all(map(is_name, parts))
        case ast.Starred(value=part):
            return is_name(part)
        case _:
            return isinstance(target, ast.Name)


def called(body: list[ast.stmt]) -> Iterator[ast.expr]:
    """What is called where a module is imported, decorators among it."""
    for statement in body:
        now: list[ast.expr | None] = []
        match statement:
            case ast.FunctionDef(args=args) | ast.AsyncFunctionDef(args=args):
                now = [*args.defaults, *args.kw_defaults]
            case ast.ClassDef(bases=bases, keywords=keywords):
                now = [*bases, *(keyword.value for keyword in keywords)]
                yield from called(statement.body)
            case ast.Assign() | ast.AnnAssign():
                now = [statement.value]
        if isinstance(statement, DEFINITIONS):
            now += statement.decorator_list
            plain = (d for d in statement.decorator_list if not isinstance(d, ast.Call))
            yield from plain
        for expression in filter(None, now):
            yield from (node.func for node in evaluated(expression) if isinstance(node, ast.Call))


def evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of an expression that are evaluated with it: all but the bodies of lambdas."""
    yield node
    if not isinstance(node, ast.Lambda):
        for part in ast.iter_child_nodes(node):
            yield from evaluated(part)


def bound_here(tree: ast.Module) -> set[str]:
    """Functions and classes of the module, what it imports from `emergence`, and its constants."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, DEFINITIONS):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(n.id for n in node.targets if isinstance(n, ast.Name))
        elif isinstance(node, ast.ImportFrom):
            ours = node.level or (node.module or "").startswith(ROOMS)
            names.update(alias.asname or alias.name for alias in node.names if ours)
    return names
