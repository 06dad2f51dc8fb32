"""The drill of forgeries: a row for each, and an exit code that is not 0 if one was not caught."""

import shutil
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bookbuild.execution.display import PlainDisplay
from bookbuild.pipeline import build_book
from tools.toy_book import Toy, new_toy

from .catalogue import CATALOGUE
from .trial import Row, tried


def main() -> int:
    """Try every forgery on a toy book, with its whole site; print what became of each."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        toy = new_toy(Path(name, "toy"))
        toy.build()
        for number, forgery in enumerate(CATALOGUE):
            folder = Path(name, str(number))
            folder.mkdir()

            def build(archive: Path, folder: Path = folder) -> None:
                book = new_toy(folder / "book")
                build_book(book.settings(published=archive), PlainDisplay(lambda _: None), print)

            copy = Toy(folder / "toy")
            shutil.copytree(toy.root, copy.root)
            rows.append(tried(forgery, copy, folder, build))
            shutil.rmtree(folder)
    table = Table("planted", "executed", "reached a site", "found", "said")
    for row in rows:
        marks = ("yes" if mark else "no" for mark in (row.executed, row.reached, row.found))
        table.add_row(row.name, *marks, row.said[:90])
    Console(width=160).print(table)
    caught = sum(row.found and not (row.executed or row.reached) for row in rows)
    print(f"{caught} of {len(rows)} forgeries were found, executed nothing and reached no site")
    return 0 if caught == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
