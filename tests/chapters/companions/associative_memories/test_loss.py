"""The cross-entropy that is written out, against torch's and automatic differentiation."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from chapters.companions.associative_memories import model
from chapters.companions.associative_memories.model import scored


@pytest.fixture
def problem():
    stream = torch.Generator().manual_seed(0)
    h = 3 * torch.randn(2, 7, 4, generator=stream, dtype=torch.float64)
    u = torch.randn(2, 5, 4, generator=stream, dtype=torch.float64)
    return h, u, torch.randint(5, (2, 7), generator=stream)


@pytest.mark.parametrize("block", [1, 20, 10**6], ids=["rows", "parts", "whole"])
def test_loss_and_gradient_are_torchs(problem, close, monkeypatch, block):
    monkeypatch.setattr(model, "BLOCK", block)
    h, u, target = problem
    found = scored(h, u, target)
    h.requires_grad_()
    for run in range(2):
        logits = h[run] @ u[run].T
        expected = cross_entropy(logits, target[run])
        close(found.loss[run], expected.detach(), 1e-12)
        close(found.gradient[run], torch.autograd.grad(expected, h)[0][run], 1e-12)
        assert torch.equal(found.right[run], logits.argmax(dim=1) == target[run])


def test_a_tie_is_not_right():
    h, u = torch.zeros(1, 3, 2), torch.eye(2).expand(1, 2, 2)
    assert not scored(h, u, torch.tensor([[0, 1, 0]])).right.any()


def test_logits_far_apart_lose_nothing_that_counts(problem, close):
    h, u, target = problem
    found = scored((1e3 * h).float(), u.float(), target)
    logits = (1e3 * h) @ u.mT
    expected = torch.stack([cross_entropy(*pair) for pair in zip(logits, target, strict=True)])
    close(found.loss.double(), expected, 1e-5)
    assert torch.isfinite(found.gradient).all()
