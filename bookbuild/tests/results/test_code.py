"""What keys depend on: modules that code imports, and the machine where it runs."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from bookbuild.results import keys, machine
from bookbuild.results.keys import chapter_key, code_of, reached_by, reached_by_cells, task_key
from bookbuild.settings import BuildSettings
from bookbuild.source.chapters import read_chapter
from tools.this_book import ROOT

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
def src(tmp_path):
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
def test_imports_are_followed(src, cell, modules, packages):
    reached = reached_by_cells([cell], src)
    assert ({*reached.modules}, reached.packages) == (modules, packages)


def test_what_only_draws_or_reports_is_left_out_of_numbers(src):
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
def test_an_edit_counts_where_it_is_reached_and_does_something(src, name, old, new, changes):
    before = reached_by(["pack.middle"], src).code
    path = src / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert (reached_by(["pack.middle"], src).code != before) is changes


def test_what_cannot_be_parsed_counts_by_its_bytes(src):
    before = reached_by(["broken"], src).code
    with (src / "broken.py").open("a", encoding="utf-8") as file:
        file.write("# a comment\n")
    assert reached_by(["broken"], src).code != before


def test_modules_that_import_each_other_and_functions_of_one_are_told_apart(src):
    assert reached_by(["one"], src).code == reached_by(["two"], src).code
    named = [("one", "f"), ("two", "f"), ("one", "g")]
    assert len({code_of(module, function, src) for module, function in named}) == 3


TASK = {"module": "emergence.presets", "function": "choose", "configuration": {}}
PINNED = """
import os, torch
from bookbuild.results.cache import attach_from_environment
attach_from_environment()
print(torch.are_deterministic_algorithms_enabled(), os.environ.get("CUBLAS_WORKSPACE_CONFIG"),
      torch.get_float32_matmul_precision(), torch.utils.deterministic.fill_uninitialized_memory)
"""


def test_keys_say_which_gpu_and_on_a_processor_nothing_of_it(
    monkeypatch,
):
    def on(name, device):
        """The keys of a chapter and of a training, where the GPU has some name."""
        monkeypatch.setattr(keys, "gpu", lambda: name)
        chapter = read_chapter(ROOT, "paper/07_discussion")
        of_task = task_key(TASK, device, ROOT / "src")
        return {chapter_key(chapter, BuildSettings(ROOT, device=device)), of_task}

    assert not on("one, CUDA 12.8", "cuda") & on("other, CUDA 12.8", "cuda")
    assert on("one, CUDA 12.8", "cpu") == on("other, CUDA 12.8", "cpu")
    assert machine.gpu() == "no GPU" or "CUDA" in machine.gpu()


@pytest.mark.parametrize("other", ["model\t: 1", "flags\t: fpu avx2 fma"])
def test_machines_with_other_bits_have_other_names(other):
    lines = [
        "cpu family\t: 25",
        "model\t: 17",
        "model name\t: AMD EPYC",
        "flags\t: avx2 avx512f fma",
    ]
    name = machine.processor_name("\n".join(lines) + "\n\nmodel\t: 18")
    assert name == "AMD EPYC cpu family 25 model 17 avx512f"
    lines = [other if line[:5] == other[:5] and "name" not in line else line for line in lines]
    assert machine.processor_name("\n".join(lines)) != name
    assert machine.processor_name("") == (machine.platform.processor() or "unknown processor")


def test_a_chapter_that_declares_cpu_is_the_same_on_every_device():
    chapter = read_chapter(ROOT, "paper/01_introduction")
    settings = BuildSettings(ROOT, device="cuda")
    assert chapter.placed(settings).parameters["device"] == "cpu"
    assert chapter_key(chapter, settings) == chapter_key(chapter, BuildSettings(ROOT))
    elsewhere = replace(chapter, device="any")
    assert elsewhere.placed(settings) == settings
    assert chapter_key(elsewhere, settings) != chapter_key(chapter, settings)


@pytest.mark.slow("processes that load PyTorch")
@pytest.mark.parametrize(
    ("device", "said"), [("cuda", "True :4096:8 highest False"), ("cpu", "False None highest True")]
)
def test_a_kernel_on_a_gpu_is_pinned(device, said, tmp_path):
    order = f'{{"results": "{tmp_path}", "sources": "{tmp_path}", "device": "{device}",'
    order += ' "origin": {}, "interval": 1}'
    environment = {**os.environ, "BOOKBUILD_CACHE": order, "PYTHONPATH": str(ROOT / "src")}
    environment.pop("CUBLAS_WORKSPACE_CONFIG", None)
    done = subprocess.run(
        [sys.executable, "-c", PINNED], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == said
