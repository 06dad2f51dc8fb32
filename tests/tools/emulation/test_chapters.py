"""Chapters run on a GPU, emulated, or say that they have nothing for one.

`make test WHAT=all` executes some of the paper, by `SEED=`, and `make drill WHAT=emulation` all.
"""

import json
import os
import subprocess
import sys

from bookbuild.source.chapters import ANY, CPU
from tools.this_book import ROOT, chapters, read_outside

EVERY, SOME = "EVERY_CHAPTER" in os.environ, 3
CHECKS = ("resolve_device", "devices.resolve_device")


def test_chapters_compute_on_the_gpu(dice) -> None:
    """In one process for all, without the checks of shapes."""
    elsewhere = [chapter.name for chapter in chapters() if chapter.device == ANY]
    of_paper = [name for name in elsewhere if name.startswith("paper/")]
    chosen = elsewhere if EVERY else dice.sample(of_paper, SOME)
    run = subprocess.run(
        [sys.executable, "-m", "tools.emulation.chapters"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
        input="\n".join(chosen),
        capture_output=True,
        text=True,
        check=False,
    )
    results = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(results) == len(chosen), run.stderr[-2000:]
    named = list(zip(chosen, results, strict=True))
    assert {name: result["error"] for name, result in named if result["error"]} == {}
    idle = [name for name, result in named if not result["operations"]]
    assert idle == [], "nothing for a GPU: declare the device cpu in the front matter"


def test_chapters_that_declare_cpu_hand_no_device_on() -> None:
    """Their parameter is checked at most."""
    at_home = [chapter for chapter in chapters() if chapter.device == CPU]
    handed = {chapter.name: read_outside(chapter, "device", *CHECKS) for chapter in at_home}
    assert {name: cells for name, cells in handed.items() if cells} == {}
    assert len(at_home) > 5
    assert len(chapters()) - len(at_home) > 10
