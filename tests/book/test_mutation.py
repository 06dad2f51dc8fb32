"""A planted bug turns a named row of the ledger red, by the chapter's own cells and the judge."""

from dataclasses import replace

import matplotlib.pyplot as plt
import pytest

import bookbuild
from bookbuild.reporting.expectations import Measured
from bookbuild.source.chapters import read_chapter
from emergence import models, tasks, theory, training
from emergence.proofs import reduced
from emergence.subspace import NAMES
from emergence.training import _minimal, _transformer
from running import devices
from tools.resume import executed
from tools.this_book import ROOT, claims


class Measure(Exception):
    """Raised by `report` for the key in question: the rest of the chapter need not run."""


def measured(identity, monkeypatch):
    """What the chapter of a claim reports for it, run up to there at smoke sizes."""
    claim = claims()[identity]

    def report(key, value, *, over=None, judged=True):
        if key == claim.measure:
            raise Measure(Measured(value, over))

    monkeypatch.setattr(bookbuild, "report", report)
    monkeypatch.setattr(bookbuild, "show", lambda figure, *_, **__: plt.close(figure))
    with pytest.raises(Measure) as found:
        executed(read_chapter(ROOT, claim.chapter), "smoke")
    return found.value.args[0]


def verdict(identity, monkeypatch):
    """The verdict on one claim at smoke sizes."""
    return claims()[identity].expectation.verdict(measured(identity, monkeypatch))


def seeing_oneself(monkeypatch):
    patch_mask(monkeypatch, lambda allowed: allowed | allowed.roll(-1, 0))


def seeing_the_future(monkeypatch):
    patch_mask(monkeypatch, lambda allowed: ~allowed)


def patch_mask(monkeypatch, change):
    original = models.allowed_positions
    monkeypatch.setattr(
        models, "allowed_positions", lambda *arguments: change(original(*arguments))
    )


def shifted_label(monkeypatch):
    original = tasks._assemble

    def shifted(items, labels, *rest):
        batch = original(items, labels, *rest)
        return batch._replace(target=original(items, labels.roll(1, dims=1), *rest).target)

    monkeypatch.setattr(tasks, "_assemble", shifted)


def shared_seed(monkeypatch):
    original = devices.generator
    for module in (_minimal, _transformer):
        monkeypatch.setattr(module, "generator", lambda seed, device: original(0, device))


def transposed_w2(monkeypatch):
    original = models.disentangled_output

    def transposed(weights, *rest, **options):
        return original(weights._replace(w2=weights.w2.mT), *rest, **options)

    monkeypatch.setattr(models, "disentangled_output", transposed)


def half_the_gamma(monkeypatch):
    original = reduced.derive_loss
    monkeypatch.setattr(
        reduced, "derive_loss", lambda: original().subs(reduced.GAMMA, reduced.GAMMA / 2)
    )


def three_for_nineteen(monkeypatch):
    original = theory.landscape_of
    monkeypatch.setattr(theory, "landscape_of", lambda *arguments, model: original(*arguments))


def last_for_any(monkeypatch):
    original = theory.landscape_of
    monkeypatch.setattr(theory, "landscape_of", lambda n_pairs, _query: original(n_pairs, "last"))


def gamma_4_held(monkeypatch):
    original = training.predict_minimal
    rest = tuple(name for name in NAMES if name != "gamma_4")
    monkeypatch.setattr(
        training, "predict_minimal", lambda settings: original(replace(settings, trained=rest))
    )


MUTATION = {
    "strict-mask": seeing_oneself,
    "causal-mask": seeing_the_future,
    "equally-powerful": shifted_label,
    "independent-runs": shared_seed,
    "closed-form-loss": transposed_w2,
    "order-lemma": half_the_gamma,
    "curve-by-full-orthonormal": three_for_nineteen,
    "uniform-step-two": last_for_any,
}


@pytest.mark.parametrize("identity", MUTATION)
def test_row_is_green_without_a_bug(identity, monkeypatch):
    assert verdict(identity, monkeypatch) == "reproduced"


@pytest.mark.parametrize("identity", MUTATION)
def test_row_turns_red(identity, monkeypatch):
    MUTATION[identity](monkeypatch)
    assert verdict(identity, monkeypatch) == "contradicted"


def test_a_coordinate_held_in_the_prediction_is_missed(monkeypatch):
    """The row is partly there without a bug, too: it holds for some coordinates."""
    identity = "figure-15-predicted-nineteen"
    right = measured(identity, monkeypatch).value
    gamma_4_held(monkeypatch)
    wrong = measured(identity, monkeypatch).value
    limit = claims()[identity].expectation.high
    assert right["gamma_4"] <= limit < wrong["gamma_4"]
