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

from tools.this_book import ROOT

BEYOND = "src/chapters/beyond"
TESTS = "tests/chapters/beyond"


class Plant(NamedTuple):
    """A sign, and the tests that should notice that it is wrong."""

    path: str  # below `BEYOND`
    right: str  # occurs once in the file
    wrong: str
    tests: str  # below `TESTS`, with pytest's `::` and a choice after a blank


_ENCLOSED = "every_position/test_enclosed.py"
_NEVER = "every_position/test_never.py push_on_alpha"
_LARGE = "full_flow/test_every_large.py"
_ANY = "full_flow/test_any_pair.py state or rows or sums"
_BOUNDS = "full_flow/test_bounds.py"
PLANTS = (
    Plant(
        "every_position/enclosed.py",
        "(2 * n - 1) * (-beta * share)",
        "(2 * n - 1) * (beta * share)",
        _ENCLOSED,
    ),
    Plant(
        "every_position/enclosed.py",
        "base * (unity - top * ahead)",
        "base * (unity + top * ahead)",
        _ENCLOSED,
    ),
    Plant(
        "every_position/enclosed.py",
        "top * (1 - top * ahead)",
        "top * (1 + top * ahead)",
        _ENCLOSED,
    ),
    Plant("every_position/enclosed.py", "answers += late / (4", "answers -= late / (4", _ENCLOSED),
    Plant(
        "every_position/enclosed.py", "harmonic + 2 * squares", "harmonic - 2 * squares", _ENCLOSED
    ),
    Plant("every_position/enclosed.py", "(1 + 2 * answers", "(1 - 2 * answers", _ENCLOSED),
    Plant("every_position/enclosed.py", "limits.lag + (0 if", "limits.lag - (0 if", _ENCLOSED),
    Plant("every_position/enclosed.py", "(1 - (-harmonic", "(1 + (-harmonic", _ENCLOSED),
    Plant("every_position/never.py", "(1 - gamma * (1", "(1 + gamma * (1", _NEVER),
    Plant("every_position/never.py", "(w - s) - others", "(w - s) + others", _NEVER),
    Plant(
        "full_flow/every_large/outputs.py", "-attention.p.both[1]", "attention.p.both[1]", _LARGE
    ),
    Plant(
        "full_flow/every_large/outputs.py",
        "(joint + box.apart) / 2",
        "(joint - box.apart) / 2",
        _LARGE,
    ),
    Plant(
        "full_flow/every_large/attentions.py",
        "1 / (2 - x - x * box",
        "1 / (2 + x - x * box",
        _LARGE,
    ),
    Plant("full_flow/every_large/pushes.py", "goal += output", "goal -= output", _LARGE),
    Plant("full_flow/any_pair/attentions.py", "rare + all_w / 2", "rare - all_w / 2", _ANY),
    Plant(
        "full_flow/any_pair/outputs.py",
        "up_four += output.three * a_f_up",
        "up_four -= output.three * a_f_up",
        _ANY,
    ),
    Plant(
        "full_flow/box.py",
        "- (grown - arb(1) / 2) * first",
        "+ (grown - arb(1) / 2) * first",
        _BOUNDS + " beyond_the_logarithm",
    ),
    Plant(
        "full_flow/reduced.py",
        "goal_1 = -state.joint",
        "goal_1 = state.joint",
        _BOUNDS + " twelve_move",
    ),
    Plant(
        "full_flow/twelve.py",
        "2 * (2 * n_pairs - 3) - squares",
        "2 * (2 * n_pairs - 3) + squares",
        _BOUNDS + " sums_over",
    ),
    Plant(
        "exact_constants/every_n.py",
        "** 2 * (1 + beta**2)",
        "** 2 * (1 - beta**2)",
        "exact_constants/test_every_n.py lag",
    ),
)


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
