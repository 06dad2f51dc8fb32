"""Process that executes chapters of planted folders, an order a line: tools.mutation.chapter.

Each is executed in a fork that goes to its folder, whose sources then come first on the path; what
all have in common, PyTorch and the like, is imported once. An error ends its statement and not
the chapter, so that later rows are still reached where they can be. Figures are not drawn to files.
"""

import ast
import contextlib
import hashlib
import importlib
import io
import json
import os
import select
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

COMMON = (
    "IPython.display", "flint", "jaxtyping", "jsonschema", "jupytext", "matplotlib.pyplot",
    "nbformat", "scipy.integrate", "scipy.optimize", "scipy.special", "scipy.stats", "sympy",
    "torch", "yaml",
)  # fmt: skip
TOLD = "told.json"
INTERVAL = 300.0  # seconds between states of a training


def main() -> int:
    """Execute what is ordered until there is no more; answer each order with a line."""
    os.environ["MPLBACKEND"] = "Agg"
    for name in COMMON:
        importlib.import_module(name)
    for line in sys.stdin:
        order = json.loads(line)
        print(_in_fork(order), flush=True)
    return 0


def _in_fork(order: dict[str, Any]) -> str:
    """Execute a chapter in a fork; return how that ended: `done`, `time-out` or `failed`."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # the orders are the parent's
            log = os.open(str(Path(order["output"], "log.txt")), os.O_WRONLY | os.O_CREAT)
            os.dup2(log, 1)
            os.dup2(log, 2)
            execute(order)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    handle = os.pidfd_open(child)
    try:
        # one order at a time: what can be read before it is done is the end of who ordered it
        ended = select.select([handle, sys.stdin], [], [], order["timeout"])[0]
        if handle not in ended:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    finally:
        os.close(handle)
    if sys.stdin in ended:
        sys.exit(1)
    if not ended:
        return "time-out"
    return "done" if status == 0 else "failed"


def execute(order: dict[str, Any]) -> None:
    """Execute a chapter on the sources of its folder; at the end write what came of it."""
    root, output = Path(order["folder"]), Path(order["output"])
    os.chdir(root)
    sys.path.insert(0, str(root / "src"))
    os.environ["BOOKBUILD_OUTPUT"] = str(output)

    import numpy as np
    import torch
    from matplotlib import pyplot

    import bookbuild
    from bookbuild.results.cache import StoredCache
    from bookbuild.source.chapters import read_chapter
    from running import cache
    from tools.mutation.disturbance import Disturbance, heard, wrap

    torch.set_num_threads(1)
    arrays: dict[str, str] = {}

    def seen(figure: Any, name: str, *, data: Any = None, **_: object) -> None:
        pyplot.close(figure)
        for key, value in (data or {}).items():
            plain = value.detach().cpu().numpy() if hasattr(value, "detach") else value
            text = repr(np.asarray(plain).tolist())
            arrays[f"{name}: {key}"] = hashlib.sha256(text.encode()).hexdigest()

    bookbuild.show = seen
    chapter = read_chapter(root, order["chapter"])
    names: dict[str, Any] = {"__name__": "chapter"}
    called: dict[str, bool] = {}
    wrong = order["disturbance"]
    change = Disturbance(**wrong).disturbed if wrong else heard(called)
    errors: list[dict[str, Any]] = []
    # a fault that a training cannot reach, in a measure say, finds it ended
    kept = StoredCache(Path(order["trainings"]), root / "src", "cpu", {}, INTERVAL)
    started = time.process_time()
    with cache.attached(kept), contextlib.redirect_stdout(io.StringIO()):
        for number, cell in enumerate(chapter.code, start=1):
            for statement in ast.parse(cell.source).body:
                code = ast.Module([statement], type_ignores=[])
                try:
                    exec(compile(code, f"cell {number}", "exec"), names)
                except Exception as error:
                    traceback.print_exc()
                    cause = f"{type(error).__name__}: {error}".partition("\n")[0]
                    # what follows in the cell may follow from it
                    if not errors or errors[-1]["cell"] != number:
                        errors.append({"cell": number, "cause": cause[:200]})
                wrap(names, change)
            if "parameters" in cell.metadata.get("tags", []):
                names |= {"profile": order["profile"], "device": "cpu", "seed": order["seed"]}
    seconds = round(time.process_time() - started, 1)
    told = {"errors": errors, "seconds": seconds, "called": called, "arrays": arrays}
    (output / TOLD).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
