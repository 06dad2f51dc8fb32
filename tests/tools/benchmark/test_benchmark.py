"""The benchmark measures what it says; no test asserts a time."""

import json
import os
import sys
from functools import partial

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from torch.utils.benchmark import Timer

from emergence.training import TokenTraining
from tools.benchmark import peers, report
from tools.benchmark.__main__ import main
from tools.benchmark.cases import Section2, Section4
from tools.benchmark.footprint import peak
from tools.benchmark.timing import spread, take_turns

CPU = torch.device("cpu")


def test_spread_is_median_and_quartiles():
    assert spread(np.array([5.0, 1.0, 2.0, 4.0, 3.0])) == (3.0, 2.0, 4.0, 5)


def test_steps_take_turns_for_as_long_as_the_slowest_takes(monkeypatch):
    clock, calls = [0.0], []
    monkeypatch.setattr("tools.benchmark.timing.timer", lambda: clock[0])
    monkeypatch.setattr("tools.benchmark.timing.Timer", partial(Timer, timer=lambda: clock[0]))

    def step(name, seconds):
        calls.append(name)
        clock[0] += seconds

    times = take_turns({"a": lambda: step("a", 8.0), "b": lambda: step("b", 2.0)}, 0.0)
    # the first of each, which fills the caches, is not timed
    assert "".join(calls) == "aabb" + "aabbbbb" * 3
    assert {name: set(each) for name, each in times.items()} == {"a": {8.0}, "b": {2.0}}
    calls.clear()
    take_turns({"a": lambda: step("a", 0.5), "b": lambda: step("b", 0.25)}, 6.0)
    assert "".join(calls) == "aabbb" + "aabbb" * 4  # a round takes 1.75 s


def test_counted_operations():
    """The products of a dense step of §2, counted by hand: see the terms."""
    case, settings = Section2(8), TokenTraining(dim=8)
    tokens = settings.batch_size * (2 * settings.n_pairs + 1)
    length = 2 * settings.n_pairs + 1
    maps = 8 * 2 * tokens * 8 * 8 * 3  # eight matrices; forward, by input, by weight
    scores = 2 * 2 * 2 * tokens * length * 8 * 3  # two layers; QK' and A times the stream
    output = 2 * tokens * 8 * settings.vocabulary * 3
    assert report.operations(case.step("dense", CPU)) == maps + scores + output


def test_fast_counts_less():
    for case in (Section2(64), Section4(16, 8, 4)):
        fast, dense = (report.operations(case.step(method, CPU)) for method in ("fast", "dense"))
        assert fast < dense / 2


def test_what_cannot_be_measured_says_why(monkeypatch):
    def refuse(*_):
        raise peers.NotMeasured("no such thing here")

    for name in ("transformer_lens", "with_compiler", "attention_steps"):
        monkeypatch.setattr(peers, name, refuse)
    rows = report.tried(CPU, 0.0, quick=True)
    assert [row["not_measured"] for row in rows] == ["no such thing here"] * 4


def test_quick_run_writes_every_number(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "tried", lambda *_: [{"name": "x", "not_measured": "y"}])
    monkeypatch.setattr(report, "peak", lambda *_: None)
    path = tmp_path / "deep" / "cpu.json"
    run = CliRunner().invoke(main, ["--quick", "--device", "cpu", "--output", str(path)])
    assert run.exit_code == 0, run.output
    results = json.loads(path.read_text(encoding="utf-8"))
    assert set(results["section2"][0]["peak_bytes"]) == {"dense", "fast"}
    assert all(row["floor"] > 0 for row in results["section4"])
    assert "not measured: y" in run.output
    assert results["section4"][0]["peak_bytes"] == {"dense": None, "fast": None}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells the peak")
def test_peak_memory_counts_what_a_step_allocates():
    """The dense step of §4 holds several arrays of B (2N+1)^2 numbers of four bytes."""
    case = Section4(32, 4, 256)
    square = 4 * 256 * 65**2
    assert 2 * square < peak(case, "dense", CPU) < 60 * square


def test_a_process_that_is_killed_is_told(capsys):
    class Deadly:
        name = "a step"

        def __reduce__(self):
            return os._exit, (9,)

    assert peak(Deadly(), "dense", CPU) is None
    assert "No peak memory of a step, dense: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [(["--device", "tpu"], "device must be"), (["--threads", "0"], "--threads")],
)
def test_wrong_options_are_refused(options, sentence):
    run = CliRunner().invoke(main, ["--quick", *options])
    assert run.exit_code != 0
    assert sentence in run.output + str(run.exception)
