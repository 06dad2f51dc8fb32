"""The benchmark measures what it says; no test asserts a time."""

import json
import sys

import pytest
from click.testing import CliRunner

from emergence.training import TokenTraining
from tools.benchmark import measure
from tools.benchmark.__main__ import main
from tools.benchmark.cases import Section2, Section4
from tools.benchmark.footprint import peak


def test_counted_operations():
    """The products of a dense step of §2, counted by hand: see the terms."""
    case, settings = Section2(8), TokenTraining(dim=8)
    tokens = settings.batch_size * (2 * settings.n_pairs + 1)
    length = 2 * settings.n_pairs + 1
    maps = 8 * 2 * tokens * 8 * 8 * 3  # eight matrices; forward, by input, by weight
    scores = 2 * 2 * 2 * tokens * length * 8 * 3  # two layers; QK' and A times the stream
    output = 2 * tokens * 8 * settings.vocabulary * 3
    assert measure.operations(case.step("dense")) == maps + scores + output
    for larger in (Section2(64), Section4(16, 8, 4)):
        fast, dense = (measure.operations(larger.step(m)) for m in ("fast", "dense"))
        assert fast < dense / 2


def test_quick_run_writes_every_number(tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "peak", lambda *_: None)
    path = tmp_path / "deep" / "cpu.json"
    run = CliRunner().invoke(main, ["--quick", "--output", str(path)])
    assert run.exit_code == 0, run.output
    results = json.loads(path.read_text(encoding="utf-8"))
    assert results["section4"][0]["peak_bytes"] == {"dense": None, "fast": None}
    assert all(row["floor"] > 0 for row in results["section2"] + results["section4"])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells the peak")
def test_peak_memory_counts_what_a_step_allocates():
    """The dense step of §4 holds several arrays of B (2N+1)^2 numbers of four bytes."""
    square = 4 * 256 * 65**2
    assert 2 * square < peak(Section4(32, 4, 256), "dense") < 60 * square
