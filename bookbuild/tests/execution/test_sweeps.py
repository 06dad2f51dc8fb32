"""Declared grids: what they mean, what is refused, and that the chapter finds what is finished."""

import os
from itertools import product
from pathlib import Path

import pytest
import torch

from bookbuild.errors import BookError
from bookbuild.execution.sweeps import read_grid
from bookbuild.settings import Settings
from chapters.paper import full_dynamics
from tools.this_book import ROOT
from tools.toy_book import Command

PAPER = "chapters.paper.full_dynamics"
GOOD = f"function: {PAPER}.emergence_steps\n"
TINY = (
    GOOD + "fixed: {dim: 8, batch_size: 4, learning_rate: 10}\ngrid: {n_pairs: [2], seed: [0, 1]}"
)


def test_figure_5_is_the_preset_of_the_paper() -> None:
    grid = read_grid(ROOT / "data/sweeps/figure5.yml", "cpu")
    preset, cpu = full_dynamics.PRESET["paper"], torch.device("cpu")
    cells = product(preset.settings.sampled_pairs, preset.seeds())
    assert grid.configurations == [preset.settings.point(*cell, cpu) for cell in cells]
    assert grid.function is full_dynamics.emergence_steps


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (GOOD, "the field 'grid' is missing"),
        ("function: os.system\ngrid: {x: [1]}", "must take one argument"),
        (f"function: {PAPER}.lost\ngrid: {{x: [1]}}", "does not exist"),
        (GOOD + "grid: {n_pears: [2]}", "Point has no setting 'n_pears'"),
        (GOOD + "grid: {n_pairs: [2.5], seed: [0]}", "'n_pairs' is of type int, not 2.5"),
        (GOOD + "grid: {n_pairs: [2]}", "missing .*argument: 'seed'"),
        (GOOD + "grid: {seed: [2]}\nfixed: {seed: 1}", "'seed' is both fixed and varied"),
        (
            GOOD + f"grid: {{seed: {list(range(1001))}, n_pairs: {[2] * 1000}}}",
            "at most 1000000 are allowed",
        ),
    ],
)
def test_a_malformed_grid_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "grid.yml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BookError, match=reason):
        read_grid(path, "cpu")


def test_the_command_computes_then_reads_and_lists(
    tmp_path: Path,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name in ("src", "book", "data", "proofs", "_toc.yml", "_config.yml"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "tiny.yml").write_text(TINY, encoding="utf-8")
    path = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    order = ("sweep", "tiny.yml", "--device", "cpu", "--jobs", "1")
    assert command(tmp_path, *order) == ""
    assert "2 runs computed in" in capfd.readouterr().out
    assert command(tmp_path, *order) == ""
    assert "0 runs computed" in capfd.readouterr().out
    assert not list(Settings(tmp_path).running.glob("*"))
    assert command(tmp_path, *order, "--scheduler", "tcp://127.0.0.1:9") == ""  # all is known
