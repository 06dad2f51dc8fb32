"""Training of associative memories against a linear programme, least losses and autograd."""

import numpy as np
import pytest
import torch
from scipy.optimize import linprog, minimize
from torch.nn.functional import cross_entropy

from chapters.companions.associative_memories import training
from chapters.companions.associative_memories.training import draw, scored, train

CPU = torch.device("cpu")


def separable(pairs):
    """Whether some W gives every pair a margin of 1: a linear programme."""
    e, u = pairs.e.double().numpy(), pairs.u.double().numpy()
    rows = [
        -np.outer(u[z] - u[k], e[z]).ravel() for z in range(len(e)) for k in range(len(e)) if k != z
    ]
    size = e.shape[1] ** 2
    result = linprog(np.zeros(size), A_ub=rows, b_ub=-np.ones(len(rows)), bounds=(None, None))
    return result.status == 0


def test_training_stores_all_pairs_just_where_that_is_possible():
    everything = draw(20, 4, 0, CPU)
    possible = {n: separable(everything.first(n)) for n in range(4, 16)}
    assert any(possible.values())
    assert not all(possible.values())
    for n, expected in possible.items():
        result = train(everything.first(n), least_recall=1.0, evaluations=3000, patience=200)
        assert (result.recall == 1.0) == expected


def test_beyond_capacity_training_finds_the_least_loss():
    pairs = draw(30, 4, 1, CPU)
    result = train(pairs, least_recall=1.1, evaluations=3000, patience=200)
    e, u = pairs.e.double().numpy(), pairs.u.double().numpy()

    def loss(flat):
        logits = e @ flat.reshape(4, 4).T @ u.T
        return np.mean(np.log(np.exp(logits).sum(axis=1)) - np.diagonal(logits))

    assert result.loss == pytest.approx(minimize(loss, np.zeros(16)).fun, rel=1e-4)


@pytest.fixture
def problem():
    stream = torch.Generator().manual_seed(0)
    h = 3 * torch.randn(2, 7, 4, generator=stream, dtype=torch.float64)
    u = torch.randn(2, 5, 4, generator=stream, dtype=torch.float64)
    return h, u, torch.randint(5, (2, 7), generator=stream)


@pytest.mark.parametrize("block", [1, 20, 10**6], ids=["rows", "parts", "whole"])
def test_loss_and_gradient_are_torchs(problem, close, monkeypatch, block):
    monkeypatch.setattr(training, "BLOCK", block)
    h, u, target = problem
    result = scored(h, u, target)
    h.requires_grad_()
    for run in range(2):
        logits = h[run] @ u[run].T
        expected = cross_entropy(logits, target[run])
        close(result.loss[run], expected.detach(), 1e-12)
        close(result.gradient[run], torch.autograd.grad(expected, h)[0][run], 1e-12)
        assert torch.equal(result.right[run], logits.argmax(dim=1) == target[run])


def test_logits_far_apart_lose_nothing_that_counts(problem, close):
    h, u, target = problem
    result = scored((1e3 * h).float(), u.float(), target)
    logits = (1e3 * h) @ u.mT
    expected = torch.stack([cross_entropy(*pair) for pair in zip(logits, target, strict=True)])
    close(result.loss.double(), expected, 1e-5)
    assert torch.isfinite(result.gradient).all()
