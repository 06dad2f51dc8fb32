"""Rules of the sources that no tool knows: what imports do, loops of descent, private names."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tools.this_book import ROOT

SRC = ROOT / "src"
ROOMS = ("emergence", "chapters")
GRADIENTS = {
    "backward", "grad", "descent", "residual_and_gradient", "loss_and_gradient", "minimal_step",
    "token_step",
}  # fmt: skip
# Loops that take gradients and are no training: what they do instead.
NO_TRAINING = {
    "chapters/companions/grokking/direction.py: pulled": "a measurement, argued there",
}
# Loops of which no loss that is not finite may be an error, and why.
UNCHECKED = {
    "networks_per_string": "an enumeration of networks, with progress and no loss",
    "train_asked_tokens": "a run that diverges ends there, and its looks before that are kept",
    "train_supervised": "a run that diverges ends there, and is stored as one that diverged",
    "train_side_by_side": "a run that diverges leaves, and the others go on",
}
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


@cache
def trees() -> dict[Path, ast.Module]:
    """All modules of the science and the builder, parsed."""
    folders = [SRC / room for room in ROOMS] + [ROOT / "bookbuild" / "src"]
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def science() -> Iterator[tuple[Path, ast.Module]]:
    return ((path, tree) for path, tree in trees().items() if SRC in path.parents)


def test_importing_modules_defines_names_and_changes_nothing_else():
    """So their order does not matter. `plotting`, which sets a style, is excepted."""
    names = [
        ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")
        for path, tree in science()
        if path.stem != "__main__"  # which is started
        and "plotting" not in path.parts
        and "emergence.plotting" not in ast.unparse(tree)  # which it imports
    ]
    assert len(names) > 100
    order = [sys.executable, "-c", STATE, json.dumps(names)]
    done = subprocess.run(order, cwd=SRC, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_nothing_is_named_like_its_module():
    """`from room import thing` would give the module or the function, as imports happen to run."""
    for path, tree in trees().items():
        module = path.parent.name if path.stem == "__init__" else path.stem
        assert module not in {getattr(node, "name", "") for node in tree.body}, path


def called(node: ast.AST) -> set[str]:
    """The last names of what is called below a node."""
    calls = (result.func for result in ast.walk(node) if isinstance(result, ast.Call))
    return {getattr(func, "attr", getattr(func, "id", "")) for func in calls}


def loops() -> Iterator[tuple[str, ast.FunctionDef, ast.For | ast.While]]:
    """Loops of functions of the science: the names of module and function, and both nodes."""
    for path, tree in science():
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef):
                for loop in ast.walk(function):
                    if isinstance(loop, ast.For | ast.While):
                        yield f"{path.relative_to(SRC)}: {function.name}", function, loop


def test_there_is_one_loop_of_descent_which_looks_whether_its_loss_is_finite():
    """Others would not resume, not record their steps on a GPU, and go on with NaN."""
    counted = {
        name
        for name, _, loop in loops()
        if (isinstance(loop, ast.While) or "range" in called(loop.iter))
        and called(loop) & GRADIENTS
    }
    assert counted == set(NO_TRAINING)
    descents = {
        name: function
        for name, function, loop in loops()
        if isinstance(loop, ast.For)
        and "steps" in called(loop.iter)
        and function.name not in UNCHECKED
    }
    assert len(descents) > 10
    assert [name for name, f in descents.items() if "check_finite" not in called(f)] == []


def private_imports(tree: ast.Module, inside: str) -> list[str]:
    """Names and modules with an underscore that a file takes from elsewhere in the library."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    names = (f"{node.module}.{alias.name}" for node in nodes for alias in node.names)
    return [
        x for x in names if x.startswith("emergence.") and "._" in x and not x.startswith(inside)
    ]


def test_nobody_reaches_for_what_is_private():
    for path, tree in science():
        package = ".".join(path.relative_to(SRC).parts[:2])
        assert private_imports(tree, f"{package}.") == [], path
    planted = ast.parse("from emergence.theory import _flow")
    assert private_imports(planted, "chapters.beyond.") == ["emergence.theory._flow"]
