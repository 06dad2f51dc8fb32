"""What the flow conserves, in trained networks and in flows; the order of emergence."""

import copy

import numpy as np
import pytest
import sympy as sp
import torch

from chapters.beyond.first_integral import order
from chapters.beyond.first_integral.conserved import drifts
from emergence import models, tasks, theory, training
from emergence.proofs import reduced


@pytest.fixture
def model():
    stream = torch.Generator().manual_seed(0)
    made = models.AttentionOnlyTransformer(8, 6, 7, embedding_scale=1.0, generator=stream)
    return made.double()


def stepped(model, rate):
    """The model after a step of descent on a fixed batch."""
    after = copy.deepcopy(model)
    batch = tasks.token_pairs(16, 2, 6, 7, generator=torch.Generator().manual_seed(1))
    logits = training.query_logits(after, batch, "causal", "dense")
    torch.nn.functional.cross_entropy(logits, batch.target).backward()
    with torch.no_grad():
        for weights in after.parameters():
            weights -= rate * weights.grad
    return after


def test_a_step_of_descent_leaves_the_balances_in_second_order_only(model):
    coarse, fine = (drifts(model, stepped(model, rate)) for rate in (1e-3, 1e-4))
    for law in ("QK 1", "VO 1", "QK 2", "VO 2"):
        assert 0 < fine[law] < 1e-2
        assert coarse[law] / fine[law] == pytest.approx(10, rel=0.02)


def test_what_moves_one_half_alone_is_seen(model):
    after = copy.deepcopy(model)
    with torch.no_grad():
        after.W_K[0] *= 1.1
        after.W_Q[0] *= 1.2
    drift = drifts(model, after)
    assert drift["QK 1"] > 0.1


def test_the_flow_of_outputs_is_paired_with_values_and_not_with_queries(model):
    after = stepped(model, 1e-4)
    with torch.no_grad():
        moved = [
            w @ w.T - v @ v.T
            for w, v in ((after.W_V[0], model.W_V[0]), (after.W_O[0], model.W_O[0]))
        ]
    wrong = (moved[0] - moved[1]).norm() / moved[0].norm()
    assert wrong > 0.1 > drifts(model, after)["VO 1"]


def test_every_step_of_the_lemma_is_an_identity():
    assert set(order.residuals().values()) == {sp.Integer(0)}


def test_a_wrong_loss_leaves_something(monkeypatch):
    original = reduced.derive_loss
    monkeypatch.setattr(reduced, "derive_loss", lambda: original() + reduced.GAMMA**2 / reduced.N)
    left = order.residuals()
    assert left["speed of gamma where h = 1"] != 0
    assert left["speed of h where h = 1"] != 0
    assert left["speed of alpha"] == 0


@pytest.mark.parametrize("n_pairs", [2, 3, 50])
def test_the_flow_stays_where_the_lemma_says(n_pairs):
    path = theory.gradient_flow(n_pairs, 20.0 * n_pairs**2)
    signal = np.array(theory.signal(path.alpha, path.beta, n_pairs))
    h = path.gamma * (signal - 1) / (signal + 2 * n_pairs - 1)
    assert h.max() < 1
    assert h[-1] > 0.9  # the bound is sharp
    assert np.diff(path.alpha).min() > 0
    assert np.diff(path.beta).min() > 0
