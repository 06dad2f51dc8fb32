"""Every chapter runs on a GPU, emulated, or says that it has nothing for one.

`make test` executes those of the paper, and `make drill WHAT=emulation` all.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bookbuild.source.chapters import ANY, CPU, Chapter
from tools.this_book import ROOT, chapters, read_outside

CHAPTERS = chapters()
ELSEWHERE = [chapter for chapter in CHAPTERS if chapter.device == ANY]
CHECKS = ("resolve_device", "devices.resolve_device")


@pytest.fixture(scope="module")
def on_device() -> Iterator[Callable[[str], dict[str, Any]]]:
    """Execute a chapter in one process for all, without the checks of shapes."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tools.emulation.chapters"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    stdin, stdout = process.stdin, process.stdout

    def execute(name: str) -> dict[str, Any]:
        stdin.write(f"{name}\n")
        stdin.flush()
        return json.loads(stdout.readline() or '{"error": "the process has ended"}')

    with process:
        yield execute
        stdin.close()


@pytest.mark.parametrize("chapter", ELSEWHERE, ids=lambda chapter: chapter.name)
def test_a_chapter_computes_on_the_gpu(chapter: Chapter, on_device: Callable[..., Any]) -> None:
    if not chapter.name.startswith("paper/") and "EVERY_CHAPTER" not in os.environ:
        pytest.skip("make drill WHAT=emulation")
    result = on_device(chapter.name)
    assert not result["error"], result["error"]
    assert result["operations"], "nothing for a GPU: declare the device cpu in the front matter"


def test_chapters_that_declare_cpu_hand_no_device_on() -> None:
    """Their parameter is checked at most."""
    at_home = [chapter for chapter in CHAPTERS if chapter.device == CPU]
    handed = {chapter.name: read_outside(chapter, "device", *CHECKS) for chapter in at_home}
    assert {name: cells for name, cells in handed.items() if cells} == {}
    assert len(at_home) > 5
    assert len(ELSEWHERE) > 10
