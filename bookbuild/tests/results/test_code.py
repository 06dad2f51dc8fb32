"""What code depends on: the modules that it imports, found without running them."""

from pathlib import Path

import pytest

from bookbuild.results.code import reached_by, reached_by_cells
from bookbuild.results.keys import code_of

FILES = {
    "_config.yml": "bookbuild: {running: run, drawing: [draw]}",
    "src/pack/__init__.py": "",
    "src/pack/style.mplstyle": "lines.linewidth: 2",
    "src/pack/low.py": '"""Low."""\n\nimport numpy as np\n\nx = np.pi  # here\n',
    "src/pack/middle.py": "import os\n\nfrom .low import x\n\n\ndef f():\n    return x\n",
    "src/pack/lazy.py": "def f():\n    import pack.low as low\n\n    return low.x\n",
    "src/pack/deep/__init__.py": "from ..middle import f\n",
    "src/pack/deep/leaf.py": "leaf = 2\n",
    "src/names/inner.py": "import scipy.special\n",  # of a package without `__init__`
    "src/one.py": "import two\n",
    "src/two.py": "from one import f\n",
    "src/drawn.py": "import draw.panels, matplotlib.pyplot, run.memo, run.states\n",
    "src/draw/__init__.py": "",
    "src/draw/panels.py": "",
    "src/run/__init__.py": "",
    "src/run/memo.py": "",
    "src/run/states.py": "",
    "src/broken.py": "import pack.low\nthis is no code\n",
}
MIDDLE = {"pack", "pack.low", "pack.middle"}
RUN = {"drawn", "run", "run.states"}


@pytest.fixture
def src(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "src"


@pytest.mark.parametrize(
    ("cell", "modules", "packages"),
    [
        ("from pack import middle", MIDDLE, ("numpy",)),
        ("import pack.middle", MIDDLE, ("numpy",)),
        ("from pack.middle import *", MIDDLE, ("numpy",)),
        ("def g():\n    from pack.lazy import f", {"pack", "pack.lazy", "pack.low"}, ("numpy",)),
        ("import pack.deep.leaf", MIDDLE | {"pack.deep", "pack.deep.leaf"}, ("numpy",)),
        ("import pack", {"pack"}, ()),
        ("from names.inner import y", {"names.inner"}, ("scipy",)),
        ("import one", {"one", "two"}, ()),
        ("import broken", {"broken"}, ()),
        ("%matplotlib inline\nimport pack", {"pack"}, ()),
        ("import torch.nn\nimport pack, os.path", {"pack"}, ("torch",)),
        ("import pack.low\nthis is no code", set(), ()),
        ("import drawn", RUN | {"draw", "draw.panels"}, ("matplotlib",)),
    ],
)
def test_imports_are_followed(
    src: Path, cell: str, modules: set[str], packages: tuple[str, ...]
) -> None:
    reached = reached_by_cells([cell], src)
    assert ({*reached.modules}, reached.packages) == (modules, packages)


def test_what_only_draws_or_reports_is_left_out_of_numbers(src: Path) -> None:
    cells = ["import drawn, bookbuild"]
    assert "bookbuild.reporting.notebook" in reached_by_cells(cells, src).modules
    for reached in (reached_by_cells(cells, src, shown=False), reached_by(["drawn"], src)):
        assert ({*reached.modules}, reached.packages) == (RUN, ())


@pytest.mark.parametrize(
    ("name", "old", "new", "changes"),
    [
        ("pack/low.py", "np.pi", "np.e", True),
        ("pack/low.py", "x = np.pi", "unused = 1\nx = np.pi", True),
        ("pack/__init__.py", "", "y = 1\n", True),
        ("pack/style.mplstyle", "2", "3", True),  # the code may read it
        ("pack/lazy.py", "low.x", "2 * low.x", False),  # not reached
        ("pack/low.py", "# here", "# there", False),
        ("pack/low.py", "Low.", "What is low.", False),
        ("pack/middle.py", "def f():", 'def f():\n    """Why."""', False),
        ("pack/middle.py", "return x", "return (\n        x\n    )", False),
    ],
)
def test_an_edit_counts_where_it_is_reached_and_does_something(
    src: Path, name: str, old: str, new: str, changes: bool
) -> None:
    before = reached_by(["pack.middle"], src).code
    path = src / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert (reached_by(["pack.middle"], src).code != before) is changes


def test_what_cannot_be_parsed_counts_by_its_bytes(src: Path) -> None:
    before = reached_by(["broken"], src).code
    with (src / "broken.py").open("a", encoding="utf-8") as file:
        file.write("# a comment\n")
    assert reached_by(["broken"], src).code != before


def test_modules_that_import_each_other_and_functions_of_one_are_told_apart(src: Path) -> None:
    assert reached_by(["one"], src).code == reached_by(["two"], src).code
    named = [("one", "f"), ("two", "f"), ("one", "g")]
    assert len({code_of(module, function, src) for module, function in named}) == 3
