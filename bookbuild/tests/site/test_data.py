"""Data beside the pages: figures as tables, a list of all, a card."""

import csv
import io
import json
import struct
from pathlib import Path

import nbformat

from bookbuild.results.executed import Entry
from bookbuild.site.data import catalogue, figure_table, write_tables
from bookbuild.site.picture import HEIGHT, WIDTH, write_card
from bookbuild.source.chapters import Chapter

DATA = {"x": [1.5, None], "grid": [[1, 2], [3, 4]], "n": 7}
FILES = {
    "figures/a.json": json.dumps({"data": DATA}).encode(),
    "figures/a.svg": b'<svg xmlns="http://www.w3.org/2000/svg"/>\n',
}
ENTRY = Entry(FILES, {})


def test_a_table_has_a_line_a_number_with_its_place() -> None:
    rows = list(csv.reader(io.StringIO(figure_table(DATA))))
    assert rows[0] == ["array", "index", "value"]
    assert rows[1:3] == [["x", "0", "1.5"], ["x", "1", ""]]
    assert ["grid", "1 0", "3"] in rows
    assert rows[-1] == ["n", "", "7"]
    assert len(rows) == 1 + 2 + 4 + 1


def test_the_catalogue_lists_every_figure_and_its_arrays() -> None:
    chapter = Chapter("paper/x", "A <title>", nbformat.v4.new_notebook(), ())
    text = catalogue([chapter], {"paper/x": ENTRY})
    for kind in ("json", "csv", "svg"):
        assert f'href="../figures/paper/x/a.{kind}"' in text
    assert "<code>x</code>, <code>grid</code>, <code>n</code>" in text
    assert "A &lt;title&gt;" in text
    assert 'href="../data/ledger.json"' in text


def test_tables_and_the_card_are_written(tmp_path: Path) -> None:
    write_tables(ENTRY, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    write_card(tmp_path / "card.png", "A title of some length, executed", [])
    content = (tmp_path / "card.png").read_bytes()
    assert struct.unpack(">II", content[16:24]) == (WIDTH, HEIGHT)
