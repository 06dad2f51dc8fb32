"""The check of a GPU, on one that is emulated, and without one."""

import pytest
from click.testing import CliRunner

import trainings
from tools import gpu_check
from tools.emulation.emulate import emulated

TWO = {name: trainings.TRAININGS[name] for name in ("minimal", "tokens")}


def test_replayed_trainings_have_the_bits_of_walked_ones(monkeypatch, unchecked):
    monkeypatch.setattr(gpu_check, "trainings", lambda: TWO)
    monkeypatch.setenv("GRAPHS", "1")
    with emulated():
        parts = {name: list(gpu_check.PARTS[name]()) for name in gpu_check.EMULATED}
    rows = [row | {"part": part} for part, result in parts.items() for row in result]
    lines, differ = gpu_check.summary(rows)
    assert lines == ["graph = eager: 2 of 2", "twice: 2 of 2", "resumed: 2 of 2"]
    assert not differ


@pytest.mark.parametrize("row", [
    {"part": "graphs", "training": "minimal", "equal": False, "bits": "a", "refused": []},
    {"part": "graphs", "training": "minimal", "error": "RuntimeError"},
    {"part": "resumed", "training": "minimal", "equal": False},
    {"part": "twice", "training": "minimal", "bits": "other"},
])  # fmt: skip
def test_other_bits_are_told(row):
    lines, differ = gpu_check.summary([row])
    assert differ
    assert any(line.endswith("0 of 1, not minimal") for line in lines)


def test_without_a_gpu_there_is_nothing_to_check(tmp_path):
    result = CliRunner().invoke(gpu_check.main, ["--output", str(tmp_path)])
    assert (result.exit_code, result.output) == (0, "There is no GPU here, and nothing to check.\n")
