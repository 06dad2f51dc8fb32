"""Stored figures of other libraries: complete, and the same when computed anew."""

import importlib.util
import json
from dataclasses import asdict, replace

import pytest

from emergence import theory
from tools.benchmark import witnesses
from tools.benchmark.peers import NotMeasured

STORED = json.loads(witnesses.STORED.read_text(encoding="utf-8"))
needs = {
    name: pytest.mark.skipif(
        importlib.util.find_spec(name) is None,
        reason=f"{name} is optional: pip install -r requirements.peers.lock",
    )
    for name in ("transformer_lens", "diffrax")
}


def test_every_case_is_stored_with_its_settings():
    assert STORED["transformer_lens"]["settings"] == asdict(witnesses.Lens())
    found = [(flow["query"], flow["n_pairs"]) for flow in STORED["diffrax"]]
    assert found == list(witnesses.FLOWS)


def test_our_side_of_the_record_is_what_we_compute():
    for flow in STORED["diffrax"]:
        landscape = theory.landscape_of(flow["n_pairs"], flow["query"])
        assert flow["ours"] == pytest.approx(theory.times_in(landscape)[:3], rel=1e-8)


@needs["transformer_lens"]
@pytest.mark.filterwarnings("ignore")
def test_transformer_lens_takes_our_steps():
    found = witnesses.lens(replace(witnesses.Lens(), steps=5))
    assert max(found["logits_gap"], found["loss_gap"]) < 1e-10


@needs["diffrax"]
@pytest.mark.filterwarnings("ignore")
def test_diffrax_finds_the_stored_times():
    stored = STORED["diffrax"][0]
    found = witnesses.diffrax_times(stored["query"], stored["n_pairs"])
    assert found["theirs"] == pytest.approx(stored["theirs"], rel=1e-7)
    assert found["gap"] < 1e-7


def test_a_missing_library_is_named(monkeypatch):
    import builtins

    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name in ("diffrax", "transformer_lens"):
            raise ImportError(name=name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(NotMeasured, match="TransformerLens is not installed"):
        witnesses.lens(witnesses.Lens(steps=1))
    with pytest.raises(NotMeasured, match="diffrax is not installed"):
        witnesses.diffrax_times("last", 4)
