"""One constant sets the first seed of all stored runs that are cheap enough to be repeated."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.this_book import ROOT

FIRST = 900  # above all seeds of today
KEPT = {  # where the constant lies; how many configurations keep their seeds, since they take long
    "companions/associative_memories/capacity.py": 0,
    "companions/birth/stored.py": 2,
    "companions/distributional/training.py": 0,
    "companions/grokking/__init__.py": 0,
    "companions/k_hop/phases.py": 14,
    "beyond/real_transformers/token_grid/cells.py": 14,
    "beyond/every_position/stored.py": 28,
}
PROGRAM = """
import importlib, sys
from emergence.running.records import seeds_of
for name in sys.argv[1:]:
    print(*(min(seeds_of(cell)) for cell in importlib.import_module(name).RUNS.cells))
"""


def test_another_first_seed_reaches_all_runs_but_the_expensive_ones(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src" / "chapters", tmp_path / "chapters")
    modules = []
    for name in KEPT:
        path = tmp_path / "chapters" / name
        text, count = re.subn(
            "^(FIRST_SEED.* = )0", rf"\g<1>{FIRST}", path.read_text("utf-8"), flags=re.M
        )
        assert count == 1, name
        path.write_text(text, encoding="utf-8")
        module = {"__init__": "stored", "cells": "store"}.get(path.stem, path.stem)
        modules.append(".".join(("chapters", *Path(name).parent.parts, module)))
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT / 'src'}"}
    order = [sys.executable, "-c", PROGRAM, *modules]
    lines = subprocess.check_output(order, env=environment, text=True).splitlines()
    for (name, kept), line in zip(KEPT.items(), lines, strict=True):
        seeds = [int(seed) for seed in line.split()]
        assert sum(seed < FIRST for seed in seeds) == kept, name
        assert len(seeds) > kept
