"""What code depends on, found without running it."""

from pathlib import Path

import pytest

from bookbuild.results.code.definitions import reached_by, reached_by_cells
from bookbuild.results.code.modules import parse

FILES = {
    "pack/__init__.py": "",
    "pack/style.mplstyle": "lines.linewidth: 2",
    "pack/low.py": "import numpy as np\n\nx = np.pi\n\n\ndef alone():\n    return 1\n",
    "pack/middle.py": "from . import low\n\n\ndef f():\n    return low.x\n",
    "pack/lazy.py": "def f():\n    from pack.low import x\n\n    return x\n",
    "pack/deep/__init__.py": "from ..middle import f\ng = 1",
    "pack/deep/leaf.py": "leaf = 2",
    "table.py": "def double(x): return 2 * x\nTABLE = {'double': double}\nTABLE['x'] = 3\n",
    "classes.py": "import pack.low\nclass A:\n    def go(self): return pack.low.alone()\n",
    # `room` only binds names; one of them is also a module's
    "room/__init__.py": (
        '"""A room."""\nfrom .one import f, g as h\nfrom .two import two\nfrom . import three\n'
        "import pack.low as low\n__all__ = ['f', 'h', 'two']\n"
    ),
    "room/one.py": "f = g = 1\nunused = 2",
    "room/two.py": "import scipy\ntwo = scipy.pi",
    "room/three.py": "t = 3",
    "room/four.py": "x = 4",
    "room/inner/leaf.py": "x = 5",
    # reaches `room` through another module
    "through.py": "from room import f\nimport room as r\n",
    "effect.py": "import os\nfrom pack.low import alone\nos.environ['X'] = str(alone())\ny = 1\n",
    "imports_effect.py": "import effect\nz = 1\n",
}
LOW = {"pack.low:x"}
ALL_OF_ROOM = LOW | {
    "pack.low:alone", "room:__all__", "room.one:f", "room.one:g", "room.one:unused",
    "room.two:two", "room.three:t", "room.four:x", "room.inner.leaf:x",
}  # fmt: skip


@pytest.fixture
def src(tmp_path: Path) -> Path:
    write(tmp_path / "src", FILES)
    return tmp_path / "src"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def edit(src: Path, name: str, old: str, new: str) -> None:
    text = (src / name).read_text(encoding="utf-8")
    assert text.count(old) == 1
    write(src, {name: text.replace(old, new)})


@pytest.mark.parametrize(
    ("source", "places"),
    [
        ("from pack import low\nlow.x.real", LOW),
        ("from pack.middle import f", set()),  # never read
        ("from pack import lazy\nlazy.f", LOW | {"pack.lazy:f"}),
        ("%matplotlib inline\nfrom pack.low import x\nx", LOW),
        ("import pack.low\nthis is no code", set()),
        ("from table import TABLE\nTABLE['double']", {"table:TABLE", "table:double"}),
        ("from classes import A\nA", {"classes:A", "pack.low:alone"}),
        ("from imports_effect import z\nz",
         {"effect:*", "pack.low:alone", "imports_effect:z"}),
        ("import room as r\nprint(r.h.real)", {"room.one:g"}),
        ("def x():\n    import room\n    return room.f", {"room.one:f"}),
        ("from room.inner import leaf\nleaf.x", {"room.inner.leaf:x"}),
        ("import through\nthrough.r.three.t", {"room.three:t"}),
    ],
)  # fmt: skip
def test_what_is_read_counts_and_nothing_else(src: Path, source: str, places: set[str]) -> None:
    assert {*reached_by_cells([source], src).digests} - {"table:*"} == places


@pytest.mark.parametrize(
    "source", ["import room\nvars(room)['f']", "import room\nroom.__dict__", "from room import *"]
)
def test_of_a_package_that_is_used_otherwise_all_counts(src: Path, source: str) -> None:
    assert {*reached_by_cells([source], src).digests} == ALL_OF_ROOM


FROM_MIDDLE = "from pack.middle import f\nf()"


@pytest.mark.parametrize(
    ("name", "old", "new", "counts"),
    [
        ("pack/low.py", "np.pi", "np.e", True),
        ("pack/low.py", "import numpy as np", "import cupy as np", True),
        ("pack/low.py", "return 1", "return 2", False),  # of `alone`, which is not read
        ("pack/middle.py", "def f():", 'def f():\n    """Why."""', False),
        ("pack/style.mplstyle", "2", "3", True),  # the code may read it
    ],
)
def test_an_edit_counts_where_it_reaches(
    src: Path, name: str, old: str, new: str, counts: bool
) -> None:
    before = reached_by_cells([FROM_MIDDLE], src).code
    edit(src, name, old, new)
    assert (reached_by_cells([FROM_MIDDLE], src).code != before) is counts


def test_a_definition_may_move_to_another_module(src: Path) -> None:
    before = reached_by([("pack.middle", "f")], src).code
    write(src, {"pack/new.py": "from pack import low\n\n\ndef f():\n    return low.x\n"})
    assert reached_by([("pack.new", "f")], src).code == before


def test_another_definition_under_the_same_name_counts(src: Path) -> None:
    """Both are reached before and after, each by the other's name."""
    write(src, {"one.py": "def f():\n    return 1\n", "two.py": "def f():\n    return 2\n"})
    user, reached = "from {} import f\nfrom {} import f as g\n\n\na = f()\nb = g()\n", []
    for names in (("one", "two"), ("two", "one")):
        write(src, {"user.py": user.format(*names)})
        reached.append(reached_by_cells(["from user import a, b\na, b"], src))
    before, after = reached
    assert before.digests.keys() == after.digests.keys()
    assert before.code != after.code


def test_other_packages_are_found_where_they_are_read(src: Path) -> None:
    def packages(*cells: str) -> tuple[str, ...]:
        return reached_by_cells(cells, src).packages

    assert packages("import os, torch\ntorch.ones", FROM_MIDDLE) == ("numpy", "torch")
    assert packages("from room import f\nf") == ()
    assert packages("from room import two\ntwo") == ("scipy",)


FREE = """import numpy as np
from pack.low import alone

_SIZE = 3
_LOW, _HIGH = 1, 2
_UP = 5
_DOWN = 6


def _rise(x):
    return x + _UP


def _fall(x):
    return x + _DOWN


def _twice(x):
    return 2 * x


def f(loss, n=4):
    total = _twice(loss)
    for step in range(n):
        total += _SIZE * step + _LOW - _HIGH
    return total, [item for item in (total, alone())], _rise(1) - _fall(2)


class Net:
    width = 2

    def forward(self, x):
        rows = _twice(x)
        return rows + self.width
"""


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("total", "summed", True),
        ("_twice", "_doubled", True),
        ("_SIZE", "_LENGTH", True),
        ("(loss, n=4)", "(loss: float, n: int = 4) -> tuple", True),
        ("n=4", "m=4", False),  # a caller may name it
        ("width", "depth", False),
        ("_LOW - _HIGH", "_HIGH - _LOW", False),
        ("_UP = 5\n_DOWN = 6", "_UP = 6\n_DOWN = 5", False),
        ("_rise(1) - _fall(2)", "_fall(1) - _rise(2)", False),
        ("_LOW, _HIGH = 1", "_HIGH, _LOW = 1", False),
        ("return total,", "return step,", False),
        ("    return 2 * x", "    locals()\n    return 2 * x", False),
    ],
)
def test_names_that_nobody_else_sees_are_free(src: Path, old: str, new: str, same: bool) -> None:
    def reached(text: str) -> str:
        write(src, {"free.py": text})
        cells = ["from free import Net, f", "curve = f(1), Net().forward(2)\nprint(curve)"]
        return reached_by_cells(cells, src, shown=False).code

    assert old in FREE
    assert (reached(FREE.replace(old, new)) == reached(FREE)) is same


def test_what_a_check_expects_makes_no_number(src: Path) -> None:
    def code(cell: str) -> str:
        return reached_by_cells([cell], src, shown=False).code

    assert code("check('a', x + 1, at_most=2)") == code("check('b', x + 1, within=(0, 1))")
    assert code("check('a', x + 1, at_most=2)") != code("check('a', x + 2, at_most=2)")


def test_a_class_that_a_type_names_counts(src: Path) -> None:
    cells = ["from typed import f\nf"]
    text = "class Cell:\n    def n(self):\n        return 1\n\n\ndef f(cell: Cell):\n    cell.n()\n"
    write(src, {"typed.py": text})
    before = reached_by_cells(cells, src).code
    write(src, {"typed.py": text.replace("return 1", "return 2")})
    assert reached_by_cells(cells, src).code != before


@pytest.mark.parametrize(
    ("statement", "alone"),
    [
        *((x, False) for x in ("print()", "x.y = 1", "x['y'] = 1", "for x in y: pass")),
        *((x, False) for x in ("from y import *", "if x: import y")),
        *((x, True) for x in ("from y import z", "x, y = 1, 2", "x: int = 1", "x += 1")),
        *((x, True) for x in ("def f(): print()", "class C:\n    x = 1", "'a text'")),
        *((x, True) for x in ("if TYPE_CHECKING:\n    import y", "if __name__ == 'x':\n    f()")),
    ],
)
def test_what_only_defines_counts_where_its_name_is_read(statement: str, alone: bool) -> None:
    assert ("*" not in parse(statement.encode(), "module", "", None).defined) is alone


def test_what_cannot_be_parsed_counts_by_its_bytes_and_an_encoding_by_its_text() -> None:
    def code(content: bytes) -> str:
        return parse(content, "module", "", None).code

    assert code(b"x =") != code(b"x =  # a comment")
    text = b'x = "\xc3\xa9"\n'
    assert code(b"# coding: latin-1\n" + text) != code(b"# coding: utf-8\n" + text) == code(text)
