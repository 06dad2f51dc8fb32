"""Process that executes one chapter on the sources of its folder: python -m evidence.chapter ORDER.

An error ends its statement and not the chapter, so that later rows are still reached where they can
be. Figures are not drawn to files.
"""

import ast
import contextlib
import hashlib
import io
import json
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib import pyplot

import bookbuild
from bookbuild.results.cache import StoredCache
from bookbuild.results.machine import pin
from bookbuild.source.chapters import read_chapter
from emergence.running import cache

INTERVAL = 300.0  # seconds between states of a training


def execute(order: dict[str, Any]) -> dict[str, Any]:
    """Execute a chapter of this folder; return its errors, seconds, and checksums of figures."""
    pin(order["device"])
    torch.set_num_threads(1)
    arrays: dict[str, str] = {}

    def seen(figure: Any, name: str, *, data: Any = None, **_: object) -> None:
        pyplot.close(figure)
        for key, value in (data or {}).items():
            plain = value.detach().cpu().numpy() if hasattr(value, "detach") else value
            text = repr(np.asarray(plain).tolist())
            arrays[f"{name}: {key}"] = hashlib.sha256(text.encode()).hexdigest()

    bookbuild.show = seen
    names: dict[str, Any] = {"__name__": "chapter"}
    errors: list[str] = []
    folder, src = Path(order["trainings"]), Path("src").resolve()
    store = StoredCache(folder, src, order["device"], {}, INTERVAL, running="emergence.running")
    started = time.process_time()
    with cache.attached(store), contextlib.redirect_stdout(io.StringIO()):
        for number, cell in enumerate(read_chapter(Path.cwd(), order["chapter"]).code, start=1):
            for statement in ast.parse(cell.source).body:
                code = ast.Module([statement], type_ignores=[])
                try:
                    exec(compile(code, f"cell {number}", "exec"), names)
                except Exception as error:
                    traceback.print_exc()
                    errors.append(f"cell {number}: {type(error).__name__}: {error}"[:200])
            if "parameters" in cell.metadata.get("tags", []):
                names |= {name: order[name] for name in ("profile", "device", "seed")}
    seconds = round(time.process_time() - started, 1)
    return {"errors": errors, "seconds": seconds, "arrays": arrays}


if __name__ == "__main__":
    print(json.dumps(execute(json.loads(sys.argv[1]))))
