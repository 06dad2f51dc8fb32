"""Chapters as a reader opens them in JupyterLab: cell by cell, each in its own folder."""

import os
import random

import jupytext
import pytest
from nbclient import NotebookClient

from tools.this_book import ROOT, chapters

NAMES = [chapter.name for chapter in chapters()]
EVERY, SOME = "EVERY_CHAPTER" in os.environ, 1  # all of them in the weekly workflow


@pytest.mark.parametrize("place", range(len(NAMES) if EVERY else SOME))
def test_a_chapter_runs_at_toy_sizes_in_its_own_folder(place: int, monkeypatch) -> None:
    name = NAMES[place] if EVERY else random.SystemRandom().choice(NAMES)
    for variable in ("BOOKBUILD_OUTPUT", "BOOKBUILD_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    path = ROOT / "book" / f"{name}.md"
    notebook = jupytext.read(path, fmt="md:myst")
    client = NotebookClient(notebook, timeout=900, resources={"metadata": {"path": path.parent}})
    client.execute()
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code"), name
