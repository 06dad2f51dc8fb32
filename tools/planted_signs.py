"""Wrong signs in the code that encloses numbers: each is planted, and a test has to notice it.

    python -m tools.planted_signs

A sign is planted by replacing a text in a copy of `src`; then the tests of that module run there.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from bookbuild.schema import load
from tools.this_book import ROOT

BEYOND = "src/chapters/beyond"
TESTS = "tests/chapters/beyond"


class Plant(NamedTuple):
    """A sign, and the tests that should notice that it is wrong."""

    path: str  # below `BEYOND`
    right: str  # occurs once in the file
    wrong: str
    tests: str  # below `TESTS`, with pytest's `::` and a choice after a blank


DECLARED = load(Path(__file__).with_suffix(".yml"), "planted_signs.yml")
PLANTS = [
    Plant(row["path"], right, wrong, row["tests"])
    for row in DECLARED
    for right, wrong in row["signs"].items()
]


def copied(folder: Path) -> None:
    """A tree in which all but the code of the chapters is this one's."""
    for part in ROOT.iterdir():
        if part.name not in ("src", ".git", ".venv"):
            (folder / part.name).symlink_to(part)
    (folder / "src").mkdir()
    (folder / "src/emergence").symlink_to(ROOT / "src/emergence")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src/chapters", folder / "src/chapters", ignore=ignored)


def is_noticed(plant: Plant, folder: Path) -> bool:
    """Whether a test fails with the wrong sign, in a tree made by `copied`."""
    path = folder / BEYOND / plant.path
    source = path.read_text(encoding="utf-8")
    path.write_text(source.replace(plant.right, plant.wrong), encoding="utf-8")
    try:
        child = os.fork()  # numerical libraries are imported once
        if not child:
            code = 2
            try:
                code = _run(plant, folder)
            finally:
                os._exit(code)  # whatever happens: the folder is the parent's
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    finally:
        path.write_text(source, encoding="utf-8")


def _run(plant: Plant, folder: Path) -> int:
    import pytest

    os.chdir(folder)
    sys.dont_write_bytecode = True
    tests, _, chosen = plant.tests.partition(" ")
    choice = ["-k", chosen] if chosen else []
    options = ["-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider"]
    options += ["-W", "ignore:Module already imported"]  # pytest's plugins, before the fork
    return int(pytest.main([*options, *choice, f"{TESTS}/{tests}"]))


def main() -> None:
    """Plant every sign and say which are noticed; fails if more than two of them are not."""
    for name in ("flint", "matplotlib.pyplot", "scipy.integrate", "sympy", "torch"):
        __import__(name)
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        copied(Path(folder))
        for plant in PLANTS:
            noticed = is_noticed(plant, Path(folder))
            missed += not noticed
            verdict = "red" if noticed else "GREEN"
            print(f"{verdict:5} {plant.path}: {plant.right} -> {plant.wrong}", flush=True)
    print(f"{len(PLANTS) - missed} of {len(PLANTS)} wrong signs are noticed")
    sys.exit(missed > 2)


if __name__ == "__main__":
    main()
