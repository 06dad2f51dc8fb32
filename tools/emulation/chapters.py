"""Process that executes chapters on an emulated GPU: python -m tools.emulation.chapters.

It reads names of chapters, one a line, and writes for each what came of it, a line of JSON: the
error if there was one, and the operations that the GPU was given. A chapter runs in the smoke
profile, with sweeps in this very process. Figures are made but not drawn: what a renderer is given
has left the GPU.
"""

import io
import json
import os
import sys
import tempfile
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import matplotlib as mpl
import torch
from matplotlib import pyplot
from matplotlib.figure import Figure

from bookbuild.reporting import notebook
from bookbuild.source.chapters import Chapter, read_chapter
from tools.emulation.emulate import emulated
from tools.this_book import ROOT

LINES = 12  # of a traceback


def on_device(chapter: Chapter) -> dict[str, Any]:
    """Run the cells of a chapter in this process, and say what came of it."""
    notebook._measures.clear()
    names: dict[str, Any] = {"__name__": "chapter"}
    error = ""
    with emulated() as cuda, redirect_stdout(io.StringIO()):
        try:
            for cell in chapter.code:
                exec(compile(cell.source, chapter.name, "exec"), names)
                if "parameters" in cell.metadata.get("tags", []):
                    names |= {"profile": "smoke", "device": "cuda", "seed": 0}
        except Exception:  # whatever it is, its chapter's test has to show it
            error = "\n".join(traceback.format_exc().splitlines()[-LINES:])
    pyplot.close("all")
    return {"error": error, "operations": cuda.operations}


def undrawn(figure: Figure, path: Path, **_: Any) -> None:
    """In place of `savefig`."""
    Path(path).write_text("<svg/>", encoding="utf-8")


def main() -> None:
    mpl.use("Agg")
    Figure.savefig = undrawn
    torch.set_num_threads(1)
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["BOOKBUILD_OUTPUT"] = folder
        for line in sys.stdin:
            with redirect_stdout(sys.stderr):
                found = on_device(read_chapter(ROOT, line.strip()))
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
