"""JupyterLab reads and saves every chapter as it is written, executed or not."""

import shutil
from pathlib import Path

import pytest
from nbformat.v4 import new_output

from bookbuild.reporting.expressions import quoted_code
from tools.this_book import ROOT

BOOK = ROOT / "book"
PAGES = [
    path.relative_to(BOOK).as_posix()
    for path in sorted(BOOK.rglob("*.md"))
    if "kernelspec" in path.read_text(encoding="utf-8")
]


@pytest.fixture(scope="module")
def manager(tmp_path_factory):
    """The contents manager of JupyterLab, on a copy of the book."""
    from jupytext import TextFileContentsManager

    folder = tmp_path_factory.mktemp("lab") / "book"
    for page in PAGES:
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(BOOK / page, folder / page)
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
@pytest.mark.parametrize("page", PAGES)
def test_a_chapter_that_is_read_and_saved_is_the_same(manager, page, executed):
    model = manager.get(page, type="notebook")
    if executed:
        run_all(model["content"])
    manager.save(model, page)
    assert Path(manager.root_dir, page).read_text("utf-8") == (BOOK / page).read_text("utf-8")
