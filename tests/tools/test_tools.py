"""Tools of maintainers: cold builds, planted signs, the check of a GPU, times."""

import ast
import json
import sys

import pytest
from click.testing import CliRunner

import trainings
from emergence.training import TokenTraining
from tools import benchmark, gpu_check
from tools.benchmark import Section2, Section4, peak
from tools.cold_build import run_cold_build
from tools.emulation import emulated
from tools.planted_signs import BEYOND, PLANTS, TESTS
from tools.this_book import ROOT
from toy_book import LINE, SQUARE


def test_everything_is_executed_whatever_is_stored(toy):
    before = sorted(toy.settings().results.iterdir())
    path = run_cold_build(toy.settings(), *toy.heard())
    record = json.loads(path.read_text(encoding="utf-8"))
    assert toy.started() == set(record["chapters"]) == {LINE, SQUARE}
    assert sorted(toy.settings().results.iterdir()) == before
    assert 0 < record["chapters"][LINE]["seconds"] <= record["seconds"] + 0.1
    assert record["jobs"] == 2


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: f"{plant.path}: {plant.right}")
def test_a_sign_is_in_the_code_and_can_be_wrong(plant):
    source = (ROOT / BEYOND / plant.path).read_text(encoding="utf-8")
    assert source.count(plant.right) == 1
    wrong = source.replace(plant.right, plant.wrong)
    assert ast.dump(ast.parse(wrong)) != ast.dump(ast.parse(source))
    assert (ROOT / TESTS / plant.tests.split()[0]).is_file()


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


def test_counted_operations():
    """The products of a dense step of §2, counted by hand: see the terms."""
    case, settings = Section2(8), TokenTraining(dim=8)
    tokens = settings.batch_size * (2 * settings.n_pairs + 1)
    length = 2 * settings.n_pairs + 1
    maps = 8 * 2 * tokens * 8 * 8 * 3  # eight matrices; forward, by input, by weight
    scores = 2 * 2 * 2 * tokens * length * 8 * 3  # two layers; QK' and A times the stream
    output = 2 * tokens * 8 * settings.vocabulary * 3
    assert benchmark.operations(case.step("dense")) == maps + scores + output
    for larger in (Section2(64), Section4(16, 8, 4)):
        fast, dense = (benchmark.operations(larger.step(m)) for m in ("fast", "dense"))
        assert fast < dense / 2


def test_quick_run_writes_every_number(tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark, "peak", lambda *_: None)
    path = tmp_path / "deep" / "cpu.json"
    run = CliRunner().invoke(benchmark.main, ["--quick", "--output", str(path)])
    assert run.exit_code == 0, run.output
    results = json.loads(path.read_text(encoding="utf-8"))
    assert results["section4"][0]["peak_bytes"] == {"dense": None, "fast": None}
    assert all(row["floor"] > 0 for row in results["section2"] + results["section4"])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells the peak")
def test_peak_memory_counts_what_a_step_allocates():
    """The dense step of §4 holds several arrays of B (2N+1)^2 numbers of four bytes."""
    square = 4 * 256 * 65**2
    assert 2 * square < peak(Section4(32, 4, 256), "dense") < 60 * square
