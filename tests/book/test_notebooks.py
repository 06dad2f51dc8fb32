"""Chapters as a reader opens them in JupyterLab: cell by cell, each in its own folder."""

import ast
import os

import jupytext
import pytest
from nbclient import NotebookClient

from tools.this_book import ROOT, chapters

EVERY = "EVERY_CHAPTER" in os.environ  # in the weekly workflow; else one


@pytest.mark.slow("a chapter takes up to minutes")
@pytest.mark.parametrize("place", range(len(chapters()) if EVERY else 1))
def test_a_chapter_runs_at_toy_sizes_in_its_own_folder(place: int, monkeypatch, dice) -> None:
    name = (chapters()[place] if EVERY else dice.choice(chapters())).name
    for variable in ("BOOKBUILD_OUTPUT", "BOOKBUILD_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    path = ROOT / "book" / f"{name}.md"
    notebook = jupytext.read(path, fmt="md:myst")
    client = NotebookClient(notebook, timeout=900, resources={"metadata": {"path": path.parent}})
    client.execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code), name
    shown = "".join(str(output.get("data", "")) for cell in code for output in cell.outputs)
    assert "{eval}" not in shown
    assert "{glue" not in shown
    reported = [x for cell in code for x in reported_in(cell.source)]
    assert [x for x in reported if f"<td>{x}</td>" not in shown] == [], name


def reported_in(source: str) -> list[str]:
    """The measures that a cell reports, all by literal names."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    words = [word for call in calls if ast.unparse(call.func) == "report" for word in call.keywords]
    assert all(word.arg for word in words), source
    return [word.arg for word in words]
