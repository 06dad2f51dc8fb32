"""Chapters as a reader has them in JupyterLab: executed, with other settings, and saved."""

import ast
import os
import re
import shutil
from pathlib import Path

import jupytext
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_output

from bookbuild.reporting.expressions import NO_NUMBER, TEXTS, quoted_code
from bookbuild.source.chapters import read_chapter, tags
from tools.this_book import ROOT, chapters

BOOK = ROOT / "book"
EVERY = "EVERY_CHAPTER" in os.environ  # in the weekly workflow; else one
CHANGED = {"n_pairs": 20, "mask": "causal", "learning_rate": 0.7}
# steps of Figure 5 grow as N²D/λ, and its contents need a dimension of 2N
SWEPT = CHANGED | {"dim": 40, "learning_rate": 30.0, "n_seeds": 2}
PAGES = {
    "paper/04_training_dynamics": CHANGED,
    "paper/05_emergence": CHANGED,
    "paper/06_full_dynamics": SWEPT,
    "paper/C_weights_during_training": CHANGED,
    "paper/D_training_dynamics": CHANGED,
}
JUDGED = re.compile(r"reproduced|contradicted|\((?:holds|does not hold)")
SIZE = re.compile(r"\$N=(\d+)")


@pytest.fixture
def execute(monkeypatch):
    """Execute a notebook in a folder, outside of any build; return what its cells display."""
    for variable in ("BOOKBUILD_OUTPUT", "BOOKBUILD_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")

    def run(notebook, folder):
        NotebookClient(notebook, timeout=900, resources={"metadata": {"path": folder}}).execute()
        return [x.get("data", {}) for cell in notebook.cells for x in cell.get("outputs", ())]

    return run


@pytest.mark.slow("a chapter takes up to minutes")
@pytest.mark.parametrize("place", range(len(chapters()) if EVERY else 1))
def test_a_chapter_runs_at_toy_sizes_in_its_own_folder(place, execute, dice):
    name = (chapters()[place] if EVERY else dice.choice(chapters())).name
    path = BOOK / f"{name}.md"
    notebook = jupytext.read(path, fmt="md:myst")
    shown = "".join(map(str, execute(notebook, path.parent)))
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code), name
    assert "{eval}" not in shown
    assert "{glue" not in shown
    reported = [x for cell in code for x in reported_in(cell.source)]
    assert [x for x in reported if f"<td>{x}</td>" not in shown] == [], name


def reported_in(source):
    """The measures that a cell reports, all by literal names."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    words = [word for call in calls if ast.unparse(call.func) == "report" for word in call.keywords]
    assert all(word.arg for word in words), source
    return [word.arg for word in words]


@pytest.mark.slow("each page takes long")
@pytest.mark.parametrize("name", PAGES)
def test_a_page_with_other_settings_says_what_was_changed_and_judges_nothing(name, execute):
    notebook = read_chapter(ROOT, name).executable
    place = next(n for n, cell in enumerate(notebook.cells) if "parameters" in tags(cell))
    notebook.cells.insert(place + 1, new_code_cell(f"settings = {PAGES[name]!r}"))
    outputs = execute(notebook, ROOT)
    texts = [text for data in outputs for text in data.get(TEXTS, ())]
    captions = [data["text/markdown"] for data in outputs if "text/markdown" in data]
    tables = [data["text/html"] for data in outputs if "text/html" in data]
    told = "Settings were changed, so nothing on this page is judged: n_pairs = 20, mask = causal"
    assert any(text.startswith(told) for text in texts)
    assert not any(map(NO_NUMBER.search, captions))
    sizes = {int(size) for caption in captions for size in SIZE.findall(caption)}
    assert 20 in sizes or name == "paper/06_full_dynamics", sizes
    assert any("causal" in caption for caption in captions)
    assert not any(map(JUDGED.search, tables))


@pytest.fixture(scope="session")
def manager(tmp_path_factory):
    """The contents manager of JupyterLab, on a copy of the book."""
    from jupytext import TextFileContentsManager

    folder = shutil.copytree(BOOK, tmp_path_factory.mktemp("lab") / "book")
    return TextFileContentsManager(root_dir=str(folder))


def run_all(notebook):
    """Leave in a notebook what JupyterLab leaves there when it has run all of its cells."""
    metadata = notebook["metadata"]
    metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
    metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    for number, cell in enumerate(notebook["cells"], start=1):
        if cell["cell_type"] == "code":
            cell["execution_count"] = number
            cell["outputs"] = [new_output("stream", text="42")]
            cell["metadata"] |= {"trusted": True, "execution": {"iopub.status.busy": "now"}}
        elif told := quoted_code(cell["source"]):
            result = {"status": "ok", "data": {"text/plain": "'2.00'"}, "metadata": {}}
            cell["metadata"]["user_expressions"] = [
                {"expression": each, "result": result} for each in told
            ]


@pytest.mark.parametrize("executed", [False, True])
@pytest.mark.parametrize("name", [chapter.name for chapter in chapters()])
def test_a_chapter_that_is_read_and_saved_is_the_same(manager, name, executed):
    page = f"{name}.md"
    model = manager.get(page, type="notebook")
    if executed:
        run_all(model["content"])
    manager.save(model, page)
    assert Path(manager.root_dir, page).read_text("utf-8") == (BOOK / page).read_text("utf-8")
