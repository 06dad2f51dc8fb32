"""Importing a module defines names, and changes nothing else.

So it does not matter in which order modules are imported. `plotting`, which sets a style, is
excepted.
"""

import json
import subprocess
import sys
from pathlib import Path

from tools.this_book import ROOT

SRC = ROOT / "src"
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


def imported(names: list[str], folder: Path) -> str:
    """What goes wrong when modules of a folder are imported; nothing if they only define."""
    order = [sys.executable, "-c", STATE, json.dumps(names)]
    return subprocess.run(order, cwd=folder, capture_output=True, text=True, check=False).stderr


def test_importing_all_modules_changes_no_global_state() -> None:
    paths = [path for room in ("emergence", "chapters")
             for path in sorted((SRC / room).rglob("*.py"))]  # fmt: skip
    names = [
        ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")
        for path in paths
        if path.stem != "__main__"  # which is started
        and "plotting" not in path.parts
        and "emergence.plotting" not in path.read_text(encoding="utf-8")  # which it imports
    ]
    assert len(names) > 100
    assert imported(names, SRC) == ""
