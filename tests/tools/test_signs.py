"""Wrong signs in the code that encloses numbers: each is planted, and a test has to notice it.

`make drill WHAT=signs` plants them, one after the other, in a copy of the chapters' code.
"""

import ast
import os
import shutil
import sys
from pathlib import Path

import pytest

from bookbuild.processes import ran
from bookbuild.schema import load
from tools.this_book import ROOT

BEYOND, TESTS = "src/chapters/beyond", "tests/chapters/beyond"
PLANTS = [
    (row["path"], right, wrong, row["tests"].partition(" "))
    for row in load(Path(__file__).with_name("planted_signs.yml"), "planted_signs.yml")
    for right, wrong in row["signs"].items()
]


@pytest.mark.parametrize(("path", "right", "wrong", "tests"), PLANTS)
def test_a_sign_is_in_the_code_and_can_be_wrong(path, right, wrong, tests):
    source = (ROOT / BEYOND / path).read_text(encoding="utf-8")
    assert source.count(right) == 1
    changed = source.replace(right, wrong)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source))
    assert (ROOT / TESTS / tests[0]).is_file()


@pytest.mark.skipif("SIGNS" not in os.environ, reason="make drill WHAT=signs plants them")
def test_all_but_two_wrong_signs_are_noticed(tmp_path, capsys):
    for part in (part for part in ROOT.iterdir() if part.name not in ("src", ".git", ".venv")):
        (tmp_path / part.name).symlink_to(part)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src/chapters", tmp_path / "src/chapters", ignore=ignored)
    (tmp_path / "src/emergence").symlink_to(ROOT / "src/emergence")
    missed = []
    for path, right, wrong, (tests, _, chosen) in PLANTS:
        place = tmp_path / BEYOND / path
        source = place.read_text(encoding="utf-8")
        place.write_text(source.replace(right, wrong), encoding="utf-8")
        options = [
            "-x",
            "-q",
            "--tb=no",
            "-p",
            "no:cacheprovider",
            *(["-k", chosen] * bool(chosen)),
        ]
        # without bytecode, which is taken for that of a file of the same size and second
        order = [sys.executable, "-B", "-m", "pytest", *options, f"{TESTS}/{tests}"]
        is_noticed = ran(order, cwd=tmp_path).returncode == 1
        place.write_text(source, encoding="utf-8")
        missed += [] if is_noticed else [f"{path}: {right} -> {wrong}"]
        with capsys.disabled():
            print(f"{'red' if is_noticed else 'GREEN':5} {path}: {right} -> {wrong}", flush=True)
    assert len(missed) <= 2, missed
