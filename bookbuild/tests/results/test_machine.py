"""Keys and settings of results that a GPU makes, on a machine that has none."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bookbuild.results import keys, machine
from bookbuild.results.keys import chapter_key, task_key
from bookbuild.settings import BuildSettings
from bookbuild.source.chapters import read_chapter
from tools.this_book import ROOT

TASK = {"module": "emergence.presets", "function": "choose", "configuration": {}}
PINNED = """
import os, torch
from bookbuild.results.cache import attach_from_environment
attach_from_environment()
print(torch.are_deterministic_algorithms_enabled(), os.environ.get("CUBLAS_WORKSPACE_CONFIG"),
      torch.get_float32_matmul_precision(), torch.utils.deterministic.fill_uninitialized_memory)
"""


def test_keys_say_which_gpu_and_on_a_processor_nothing_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def on(name: str, device: str) -> set[str]:
        """The keys of a chapter and of a training, where the GPU has some name."""
        monkeypatch.setattr(keys, "gpu", lambda: name)
        chapter = read_chapter(ROOT, "paper/07_discussion")
        of_task = task_key(TASK, device, ROOT / "src")
        return {chapter_key(chapter, BuildSettings(ROOT, device=device)), of_task}

    assert not on("one, CUDA 12.8", "cuda") & on("other, CUDA 12.8", "cuda")
    assert on("one, CUDA 12.8", "cpu") == on("other, CUDA 12.8", "cpu")
    assert machine.gpu() == "no GPU" or "CUDA" in machine.gpu()


@pytest.mark.parametrize("other", ["model\t: 1", "flags\t: fpu avx2 fma"])
def test_machines_with_other_bits_have_other_names(other: str) -> None:
    lines = [
        "cpu family\t: 25",
        "model\t: 17",
        "model name\t: AMD EPYC",
        "flags\t: avx2 avx512f fma",
    ]
    name = machine.processor_name("\n".join(lines) + "\n\nmodel\t: 18")
    assert name == "AMD EPYC cpu family 25 model 17 avx512f"
    lines = [other if line[:5] == other[:5] and "name" not in line else line for line in lines]
    assert machine.processor_name("\n".join(lines)) != name
    assert machine.processor_name("") == (machine.platform.processor() or "unknown processor")


def test_a_chapter_that_declares_cpu_is_the_same_on_every_device() -> None:
    chapter = read_chapter(ROOT, "paper/01_introduction")
    settings = BuildSettings(ROOT, device="cuda")
    assert chapter.placed(settings).parameters["device"] == "cpu"
    assert chapter_key(chapter, settings) == chapter_key(chapter, BuildSettings(ROOT))
    elsewhere = replace(chapter, device="any")
    assert elsewhere.placed(settings) == settings
    assert chapter_key(elsewhere, settings) != chapter_key(chapter, settings)


@pytest.mark.slow("processes that load PyTorch")
@pytest.mark.parametrize(
    ("device", "said"), [("cuda", "True :4096:8 highest False"), ("cpu", "False None highest True")]
)
def test_a_kernel_on_a_gpu_is_pinned(device: str, said: str, tmp_path: Path) -> None:
    order = f'{{"results": "{tmp_path}", "sources": "{tmp_path}", "device": "{device}",'
    order += ' "origin": {}, "interval": 1}'
    environment = {**os.environ, "BOOKBUILD_CACHE": order, "PYTHONPATH": str(ROOT / "src")}
    environment.pop("CUBLAS_WORKSPACE_CONFIG", None)
    done = subprocess.run(
        [sys.executable, "-c", PINNED], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == said
