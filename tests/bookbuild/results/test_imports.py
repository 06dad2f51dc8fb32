"""What a chapter depends on, found without running it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bookbuild.results.imports import EXECUTION, Imports, find_imports

FILES = {
    "pack/__init__.py": "",
    "pack/style.mplstyle": "lines.linewidth: 2",
    "pack/low.py": "import numpy as np",
    "pack/middle.py": "from . import low",
    "pack/lazy.py": "def f():\n    from pack.low import x\n",
    "pack/alone.py": "",
    "pack/deep/__init__.py": "from ..middle import f\ng = 1",
    "pack/deep/leaf.py": "",
    "single.py": "import pack.alone",
    # `room` only binds names; one of them is also a module's
    "room/__init__.py": (
        '"""A room."""\nfrom .one import f, g as h\nfrom .two import two\nfrom . import three\n'
        "import pack.low as low\n__all__ = ['f', 'h', 'two']\n"
    ),
    "room/one.py": "f = g = 1",
    "room/two.py": "import scipy\ntwo = 2",
    "room/three.py": "",
    "room/four.py": "",
    "room/inner/leaf.py": "",
    # reaches `room` through another module
    "through.py": "from room import f\nimport room as r\n",
}
BASE = {"pack/style.mplstyle"}
DEEP = BASE | {"pack/deep/__init__.py", "pack/middle.py", "pack/low.py"}
LOW = BASE | {"pack/low.py"}
ALL_OF_ROOM = LOW | {name for name in FILES if name.startswith("room/")}

Find = Callable[..., Imports]


@pytest.fixture
def src(tmp_path: Path) -> Path:
    write(tmp_path, FILES)
    return tmp_path


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def names(found: Imports, src: Path) -> set[str]:
    return {path.relative_to(src).as_posix() for path in found.files}


@pytest.mark.parametrize(
    ("source", "files"),
    [
        ("import json", set()),
        ("import pack", BASE),
        ("import pack.alone as a", BASE | {"pack/alone.py"}),
        ("from pack import alone, low", LOW | {"pack/alone.py"}),
        ("from pack.middle import f", LOW | {"pack/middle.py"}),
        ("from pack import lazy", LOW | {"pack/lazy.py"}),
        ("import pack.deep.leaf", DEEP | {"pack/deep/leaf.py"}),
        ("from pack import deep\ndeep.g", DEEP),
        ("import single", BASE | {"single.py", "pack/alone.py"}),
        ("%matplotlib inline\nimport single", BASE | {"single.py", "pack/alone.py"}),
        ("import pack.alone\nthis is no code", set()),
        ("import pack.lost", BASE),
    ],
)
def test_the_closure_holds_what_is_imported_and_nothing_else(
    src: Path, source: str, files: set[str]
) -> None:
    assert names(find_imports([source], src), src) == files


@pytest.mark.parametrize(
    ("source", "files"),
    [
        ("import room", set()),
        ("from room import f", {"room/one.py"}),
        ("from room import f as x", {"room/one.py"}),
        ("import room\nroom.f(1)", {"room/one.py"}),
        ("import room as r\nprint(r.h.real)", {"room/one.py"}),
        ("import room as r\ndef x(y=r.f): pass", {"room/one.py"}),
        ("def x():\n    import room\n    return room.f", {"room/one.py"}),
        ("import room.four\nroom.f", {"room/one.py", "room/four.py"}),
        ("from room import three", {"room/three.py"}),
        ("import room\nroom.four.x", {"room/four.py"}),  # a submodule that __init__ does not name
        ("from room import two", {"room/two.py"}),
        ("from room.two import two", {"room/two.py"}),
        ("from room import low", LOW),
        ("from room.inner import leaf", {"room/inner/leaf.py"}),
        ("import room\nroom.inner.leaf.x", {"room/inner/leaf.py"}),
        ("import through", {"through.py", "room/one.py"}),
        ("import through\nthrough.r.three", {"through.py", "room/one.py", "room/three.py"}),
        ("from through import r\nr.three", {"through.py", "room/one.py", "room/three.py"}),
    ],
)
def test_of_a_package_that_only_binds_names_those_used_count(
    src: Path, source: str, files: set[str]
) -> None:
    assert names(find_imports([source], src), src) == files


@pytest.mark.parametrize(
    "source",
    [
        "import room\nprint(room)",
        "import room\ngetattr(room, 'f')",
        "import room\nother = room\nother.f",
        "import room\nvars(room)['f']",
        "import room\nroom.__dict__['f']",
        "import room\nroom.unknown",
        "import room\n[x for x in (room, 1)]",
        "from room import *",
    ],
)
def test_of_a_package_that_is_used_otherwise_all_counts(src: Path, source: str) -> None:
    assert names(find_imports([source], src), src) == ALL_OF_ROOM


def test_cells_are_read_together(src: Path) -> None:
    found = find_imports(["import room", "room.f", "from room import three"], src)
    assert names(found, src) == {"room/one.py", "room/three.py"}


@pytest.mark.parametrize(
    "effect",
    ["import os; os.environ['X'] = '1'", "print()", "if True: pass", "from .one import *", "x = 1"],
)
def test_a_package_that_does_more_than_bind_counts_whole(src: Path, effect: str) -> None:
    init = src / "room" / "__init__.py"
    init.write_text(f"{FILES['room/__init__.py']}\n{effect}\n", encoding="utf-8")
    found = names(find_imports(["from room import f"], src), src)
    assert {"room/__init__.py", "room/two.py", "room/three.py", "pack/low.py"} <= found


def test_what_a_name_stands_for_is_part_of_the_finding(src: Path) -> None:
    """The same files, but another function under the same name."""
    before = find_imports(["import room\nroom.h"], src)
    assert before.names == {"room:h": "room.one:g"}
    init = src / "room" / "__init__.py"
    init.write_text(init.read_text().replace("f, g as h", "f as h, g as f"), encoding="utf-8")
    after = find_imports(["import room\nroom.h"], src)
    assert (after.files, after.names) == (before.files, {"room:h": "room.one:f"})


def test_other_packages_are_found_through_modules_of_src(src: Path) -> None:
    assert find_imports(["import os, torch", "import pack.low"], src).packages == ("numpy", "torch")
    assert find_imports(["from room import f"], src).packages == ()
    assert find_imports(["from room import two"], src).packages == ("scipy",)


def test_what_execution_imports_in_functions_is_left_out(src: Path) -> None:
    room = f"{EXECUTION.replace('.', '/')}/"
    lazy = "import numpy\ndef f():\n    from distributed import Client\n    return Client, numpy\n"
    write(src, {f"{room}executors.py": lazy, "emergence/other.py": lazy})
    write(src, {f"{room}early.py": "import distributed\n"})
    executes = find_imports([f"import {EXECUTION}.executors"], src)
    assert executes.packages == ("numpy",)
    assert names(executes, src) == {f"{room}executors.py"}
    for other in ("emergence.other", f"{EXECUTION}.early"):
        assert "distributed" in find_imports([f"import {other}"], src).packages


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("from room import f\nf.__doc__", True),
        ("import inspect", True),
        ("from inspect import getsource", True),
        ("help(len)", True),
        ("getattr(len, '__doc__')", True),
        ("len?", True),
        ("from room import f", False),
        ("text = 'to help and inspect'", False),
    ],
)
def test_code_that_shows_sources_is_told(src: Path, source: str, shown: bool) -> None:
    assert find_imports([source], src).shown == shown
    write(src, {"reader.py": "def f(x):\n    return x.__doc__\n"})
    assert find_imports(["import reader"], src).shown
