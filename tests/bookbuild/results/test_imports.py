"""What a chapter imports, found without running it."""

from pathlib import Path

import pytest

from bookbuild.results.imports import find_imports

FILES = {
    "pack/__init__.py": "",
    "pack/style.mplstyle": "lines.linewidth: 2",
    "pack/low.py": "import numpy as np",
    "pack/middle.py": "from . import low",
    "pack/lazy.py": "def f():\n    from pack.low import x\n",
    "pack/alone.py": "",
    "pack/deep/__init__.py": "from ..middle import f",
    "pack/deep/leaf.py": "",
    "single.py": "import pack.alone",
}


@pytest.fixture
def src(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


BASE = {"pack/__init__.py", "pack/style.mplstyle"}


@pytest.mark.parametrize(
    ("source", "files"),
    [
        ("import json", set()),
        ("import pack", BASE),
        ("import pack.alone as a", BASE | {"pack/alone.py"}),
        ("from pack import alone, low", BASE | {"pack/alone.py", "pack/low.py"}),
        ("from pack.middle import f", BASE | {"pack/middle.py", "pack/low.py"}),
        ("from pack import lazy", BASE | {"pack/lazy.py", "pack/low.py"}),
        (
            "import pack.deep.leaf",
            BASE | {"pack/deep/__init__.py", "pack/deep/leaf.py", "pack/middle.py", "pack/low.py"},
        ),
        ("import single", BASE | {"single.py", "pack/alone.py"}),
        ("%matplotlib inline\nimport single", BASE | {"single.py", "pack/alone.py"}),
        ("import pack.alone\nthis is no code", set()),
    ],
)
def test_the_closure_holds_what_is_imported_and_nothing_else(
    src: Path, source: str, files: set[str]
) -> None:
    found = find_imports([source], src)
    assert {path.relative_to(src).as_posix() for path in found.files} == files


def test_other_packages_are_found_through_modules_of_src(src: Path) -> None:
    assert find_imports(["import os, torch", "import pack.low"], src).packages == ("numpy", "torch")
