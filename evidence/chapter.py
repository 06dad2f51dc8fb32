"""Process that executes a chapter of its folder: python -m evidence.chapter NAME SEED.

An error ends its statement and not the chapter, so that later rows are reached where they can be.
"""

import ast
import contextlib
import io
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import torch
from matplotlib import pyplot

import bookbuild
from bookbuild.results.cache import StoredCache
from bookbuild.source.book import read_book
from bookbuild.source.chapters import read_chapter
from emergence.running import cache


def execute(chapter: str, seed: int, results: Path) -> float:
    """Execute a chapter of this folder, its trainings from a store; return its seconds."""
    torch.set_num_threads(1)
    root = Path.cwd()
    bookbuild.show = lambda figure, *_, **__: pyplot.close(figure)
    names: dict[str, Any] = {"__name__": "chapter"}
    running, src = read_book(root).running, root / "src"
    store = StoredCache(results, src, "cpu", {}, running=running)
    started = time.process_time()
    with cache.attached(store), contextlib.redirect_stdout(io.StringIO()):
        for number, cell in enumerate(read_chapter(root, chapter).code, start=1):
            for statement in ast.parse(cell.source).body:
                code = ast.Module([statement], type_ignores=[])
                try:
                    exec(compile(code, f"cell {number}", "exec"), names)
                except Exception:
                    traceback.print_exc()
            if "parameters" in cell.metadata.get("tags", []):
                names |= {"profile": "paper", "device": "cpu", "seed": seed}
    return round(time.process_time() - started, 1)


if __name__ == "__main__":
    print(execute(sys.argv[1], int(sys.argv[2]), Path("_build", "results")))
