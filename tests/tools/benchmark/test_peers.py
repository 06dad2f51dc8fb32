"""The records of other people's programs: complete, and the same when computed anew."""

import importlib.util
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from emergence import theory
from tools.benchmark import published, witnesses

LIBRARIES, PUBLISHED = (
    json.loads(module.STORED.read_text(encoding="utf-8")) for module in (witnesses, published)
)
pytestmark = pytest.mark.filterwarnings("ignore")


def needs(package, lacks=False):
    lacks = lacks or importlib.util.find_spec(package) is None
    return pytest.mark.skipif(lacks, reason="make record WHAT=peers installs and fetches peers")


def test_the_records_have_the_settings_that_are_run():
    assert LIBRARIES["transformer_lens"]["settings"] == asdict(witnesses.Lens())
    result = [(flow["query"], flow["n_pairs"]) for flow in LIBRARIES["diffrax"]]
    assert result == list(witnesses.FLOWS)
    assert published.PROGRAM["commit"] == PUBLISHED["commit"]
    assert published.CATFORMER.items() <= PUBLISHED["settings"].items()


def test_our_side_of_the_record_is_what_we_compute():
    for flow in LIBRARIES["diffrax"]:
        landscape = theory.landscape_of(flow["n_pairs"], flow["query"])
        assert flow["ours"] == pytest.approx(theory.times_in(landscape)[:3], rel=1e-8)


def test_another_file_than_the_published_one_is_not_executed(tmp_path, monkeypatch):
    import pooch

    def answer(url, output_file, pooch):
        Path(output_file).write_text("raise SystemExit\n", encoding="utf-8")

    monkeypatch.setattr(published, "CACHE", tmp_path)
    monkeypatch.setattr(pooch.core, "choose_downloader", lambda *_, **__: answer)
    with pytest.raises(witnesses.NotMeasured, match=r"catformer\.py cannot be fetched"):
        published.program()


@needs("transformer_lens")
def test_transformer_lens_takes_our_steps():
    result = witnesses.lens(replace(witnesses.Lens(), steps=5))
    assert max(result["logits_gap"], result["loss_gap"]) < 1e-10


@needs("diffrax")
def test_diffrax_finds_the_stored_times():
    result = witnesses.diffrax_times("last", 8)
    assert result["theirs"] == pytest.approx(LIBRARIES["diffrax"][0]["theirs"], rel=1e-7)


@needs("simple_pytree", not (published.CACHE / published.PROGRAM["file"]).is_file())
def test_the_published_program_takes_the_steps_that_are_recorded():
    result = published.catformer(published.CATFORMER | {"steps": 60})
    assert result["loss_gap_first_60"] < 1e-12
    assert result["loss"]["ours"] == pytest.approx(PUBLISHED["loss"]["ours"][:3])
