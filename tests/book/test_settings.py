"""Pages of the paper with other settings: they run, say what was changed, and judge nothing."""

import copy
import re

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

from bookbuild.reporting.expressions import NO_NUMBER, TEXTS
from bookbuild.source.chapters import read_chapter, tags
from tools.this_book import ROOT

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


@pytest.mark.slow("each page takes long")
@pytest.mark.parametrize("name", PAGES)
def test_a_page_runs_with_other_settings(name, monkeypatch) -> None:
    for variable in ("BOOKBUILD_OUTPUT", "BOOKBUILD_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    notebook = copy.deepcopy(read_chapter(ROOT, name).executable)
    place = next(n for n, cell in enumerate(notebook.cells) if "parameters" in tags(cell))
    notebook.cells.insert(place + 1, new_code_cell(f"settings = {PAGES[name]!r}"))
    client = NotebookClient(notebook, timeout=900, resources={"metadata": {"path": ROOT}})
    client.execute()
    outputs = [x.get("data", {}) for cell in notebook.cells for x in cell.get("outputs", ())]
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
