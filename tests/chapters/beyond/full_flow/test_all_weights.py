"""All weights on rotated frames: the exact mean over a group, each of its parts, and descents."""

import itertools

import numpy as np
import pytest

from asserts import refused
from chapters.beyond.full_flow import all_weights
from chapters.beyond.full_flow.all_weights import Descent
from emergence.subspace import project

ANYWHERE = np.random.default_rng(0).normal(size=19).tolist()


@pytest.mark.parametrize(("dim", "n_pairs"), [(4, 2), (8, 3), (8, 4)])
def test_the_mean_is_that_of_the_nineteen_and_needs_each_part(dim, n_pairs):
    for rule in itertools.product(("last", "uniform"), ("last", "every"), ("strict", "causal")):
        case = Descent(n_pairs, dim, *rule)
        assert all_weights.missed(case, ANYWHERE) < 3e-15
        for part in ("items", "positions", "swap", "sign"):
            assert all_weights.missed(case, ANYWHERE, without=part) > 1e-5, part


def test_dimensions_without_signed_permutations_are_refused():
    for size in (0, 1, 6):
        refused(ValueError, "2, 4, 8", all_weights.rotations, size)


@pytest.mark.parametrize(
    "settings",
    [
        Descent(2, 4, steps=80, rate=0.5),
        Descent(3, 8, "uniform", "every", "causal", steps=60, rate=0.4),
        Descent(4, 8, supervision="every", steps=30, rate=0.2, momentum=0.9),
    ],
)
def test_all_weights_descend_as_the_nineteen_do_at_the_rate_over_d(settings):
    (alpha, beta, _), most = all_weights.departure(settings)
    assert most < 1e-13
    assert min(alpha, beta) > 0.5  # the head has formed on the way


def test_adam_and_a_rate_that_is_not_divided_by_d_take_another_path(monkeypatch):
    settings = Descent(2, 4, steps=40, rate=0.01, optimiser="adam")
    *_, (weights, _) = all_weights.descend(settings)
    assert project(weights)[1] > 0.1
    # Planted: the nineteen at the rate of the weights.
    honest = all_weights.landscape_of

    def planted(settings):
        landscape = honest(settings)
        return landscape._replace(
            gradient=lambda *point: [settings.dim * part for part in landscape.gradient(*point)]
        )

    monkeypatch.setattr(all_weights, "landscape_of", planted)
    assert all_weights.departure(Descent(2, 4, steps=5))[1] > 1e-2
