"""The record of two published programs: its settings, and the figures that they give today."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from tools.benchmark.peers import NotMeasured
from tools.benchmark.published import programs
from tools.benchmark.published.__main__ import STORED
from tools.benchmark.published.catformer import CATFORMER, catformer
from tools.benchmark.published.clamping import CLAMPING, TOY, clamping, toy
from tools.benchmark.published.programs import CACHE, TOLD, first

RECORD = json.loads(STORED.read_text(encoding="utf-8"))
needs_programs = pytest.mark.skipif(
    not all((CACHE / told["file"]).is_file() for told in TOLD.values())
    or importlib.util.find_spec("simple_pytree") is None,
    reason="make record WHAT=peers installs what the programs need and fetches them",
)


def test_the_record_has_the_programs_and_the_settings_that_are_run():
    for name, told in TOLD.items():
        assert {key: told[key] for key in ("repository", "commit")}.items() <= RECORD[name].items()
    clamped = RECORD["clamping"]
    assert CATFORMER.items() <= RECORD["catformer"]["settings"].items()
    assert CLAMPING.items() <= clamped["ours_by_their_trainer"]["settings"].items()
    assert TOY.items() <= clamped["their_toy_model"]["settings"].items()


def test_a_step_that_is_not_reached_is_none():
    assert first(np.array([0.1, 0.7]) >= 0.5) == 1
    assert first(np.array([0.1]) >= 0.5) is None


def test_another_file_than_the_published_one_is_not_executed(tmp_path, monkeypatch):
    import pooch

    def answer(url, output_file, pooch):
        Path(output_file).write_text("raise SystemExit\n", encoding="utf-8")

    monkeypatch.setattr(programs, "CACHE", tmp_path)
    monkeypatch.setattr(pooch.core, "choose_downloader", lambda *_, **__: answer)
    with pytest.raises(NotMeasured, match=r"catformer\.py cannot be fetched"):
        programs.program("catformer")


@needs_programs
@pytest.mark.filterwarnings("ignore")
def test_the_catformer_takes_the_steps_that_are_recorded():
    found = catformer(CATFORMER | {"steps": 60})
    assert found["loss_gap_first_60"] < 1e-12
    for name in ("theirs", "ours"):
        assert found["loss"][name] == pytest.approx(RECORD["catformer"]["loss"][name][:3])


@needs_programs
@pytest.mark.filterwarnings("ignore")
def test_the_trainer_that_clamps_finds_the_steps_that_are_recorded():
    for name, run in clamping().items():
        stored = RECORD["clamping"]["ours_by_their_trainer"]["runs"][name]
        assert (run["theirs"], run["ours"]) == (stored["theirs"], stored["ours"])
        assert run["parameters"] < 1e-11
    for name, run in toy().items():
        stored = RECORD["clamping"]["their_toy_model"]["loss_fell_to_share_at"][name]
        assert (run["theirs"], run["ours"]) == (stored["theirs"], stored["ours"])
        assert run["gap"] < 1e-4
