"""Process that executes one chapter on the sources of its folder: python -m evidence.chapter ORDER.

An error ends its statement and not the chapter, so that later rows are still reached where they can
be. Figures are not drawn to files.
"""

import ast
import contextlib
import io
import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import torch
from matplotlib import pyplot

import bookbuild
from bookbuild.results.cache import StoredCache
from bookbuild.results.machine import pin
from bookbuild.source.book import read_book
from bookbuild.source.chapters import read_chapter
from emergence.running import cache

INTERVAL = 300.0  # seconds between states of a training


def execute(order: dict[str, Any]) -> dict[str, Any]:
    """Execute a chapter of this folder; return its seconds and the stored runs that it read."""
    pin(order["device"])
    torch.set_num_threads(1)
    root = Path.cwd()
    stored = {str(root / file): [file] for file in order["stored"]}
    reads: set[str] = set()

    def heard(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | Path):
            reads.update(stored.get(os.path.abspath(arguments[0]), ()))

    sys.addaudithook(heard)
    bookbuild.show = lambda figure, *_, **__: pyplot.close(figure)
    names: dict[str, Any] = {"__name__": "chapter"}
    running, src = read_book(root).running, root / "src"
    store = StoredCache(
        Path(order["trainings"]), src, order["device"], {}, INTERVAL, running=running
    )
    started = time.process_time()
    with cache.attached(store), contextlib.redirect_stdout(io.StringIO()):
        for number, cell in enumerate(read_chapter(root, order["chapter"]).code, start=1):
            for statement in ast.parse(cell.source).body:
                code = ast.Module([statement], type_ignores=[])
                try:
                    exec(compile(code, f"cell {number}", "exec"), names)
                except Exception:
                    traceback.print_exc()
            if "parameters" in cell.metadata.get("tags", []):
                names |= {"profile": "paper", "device": order["device"], "seed": order["seed"]}
    seconds = round(time.process_time() - started, 1)
    return {"seconds": seconds, "reads": sorted(reads)}


if __name__ == "__main__":
    print(json.dumps(execute(json.loads(sys.argv[1]))))
