"""The one-step lemma, capacity and its prediction, and training, by oracles."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import linprog, minimize
from torch.nn.functional import cross_entropy

from chapters.companions import associative_memories as memories
from chapters.companions.associative_memories import Bracket, Settings, draw, scored, train

CPU = torch.device("cpu")


@pytest.mark.parametrize("border", [2, 41, 10**5])
@pytest.mark.parametrize("guess", [3.0, 60.0, 2000.0])
@pytest.mark.parametrize("tolerance", [1.0, 1.03])
def test_search_brackets_the_border(border, guess, tolerance):
    result = memories.search(lambda n: n <= border, guess, tolerance)
    assert result.stored <= border < result.lost
    assert result.lost <= max(result.stored + 2, result.stored * tolerance * 1.02 + 2)


def test_hebbian_recall_is_that_of_a_loop():
    total = 0
    for seed in range(2):
        pairs = draw(12, 4, seed, CPU)
        w = sum(torch.outer(u, e) for u, e in zip(pairs.u, pairs.e, strict=True))
        total += sum(int((pairs.u @ w @ pairs.e[z]).argmax()) == z for z in range(12))
    assert 0 < total < 24
    assert memories.hebbian_recall(12, 4, 2, 0) == pytest.approx(total / 24)


def test_distance_to_the_cone_is_that_of_a_numerical_projection():
    # most = n - 1: nothing is left out, so the mean is that of Gaussian rows themselves
    n, samples = 6, 4000
    rng = np.random.default_rng(1)
    distances = []
    for _ in range(300):
        g = rng.standard_normal(n)
        cone = [{"type": "ineq", "fun": lambda x, j=j: x[0] - x[j]} for j in range(1, n)]
        start = np.full(n, g.mean())
        distances.append(minimize(lambda x, g=g: ((x - g) ** 2).sum(), start, constraints=cone).fun)
    error = np.std(distances) / 300**0.5
    assert memories.row_dimension(n, samples, 0) == pytest.approx(np.mean(distances), abs=3 * error)


def test_two_entries_leave_a_quarter():
    # x_1 >= x_2 is a half-plane: the squared distance is (g_2 - g_1)_+^2 / 2, of mean 1/2
    assert memories.row_dimension(2, 200_000, 0) == pytest.approx(0.5, abs=0.01)


def test_entries_that_are_not_drawn_do_not_matter():
    some = memories.row_dimensions(2000, 1500, np.random.default_rng(0), most=128).mean()
    more = memories.row_dimensions(2000, 1500, np.random.default_rng(1), most=1999).mean()
    assert some == pytest.approx(more, rel=0.05)


def test_expected_pairs_solve_their_equation():
    n = memories.expected_pairs(16, 4000, 0)
    assert n * memories.row_dimension(round(n), 4000, 0) == pytest.approx(256, rel=0.02)
    with pytest.raises(ArithmeticError, match="still move"):
        memories.expected_pairs(4, 2000, 0)  # so few that every iteration moves them


def test_a_search_finds_about_the_expected_capacity():
    settings = Settings(evaluations=300, samples=1000)
    bracket = Bracket(**memories.run(memories.Cell(16, 0), settings))
    assert bracket.capacity == pytest.approx(memories.expected_pairs(16, 4000, 0), rel=0.25)


@pytest.fixture
def problem():
    """Random embeddings, weights and joint distribution, with different numbers of z and y."""
    stream = torch.Generator().manual_seed(0)
    e = memories.unit(5, 4, stream, torch.float64)
    u = memories.unit(3, 4, stream, torch.float64)
    w = torch.randn(4, 4, generator=stream, dtype=torch.float64)
    joint = torch.rand(5, 3, generator=stream, dtype=torch.float64)
    return w, u, e, joint / joint.sum()


def loss_by_loops(w, u, e, joint):
    """The loss in pure Python."""
    total = 0.0
    for z in range(len(e)):
        logits = [float(u_k @ w @ e[z]) for u_k in u]
        log_sum = math.log(sum(map(math.exp, logits)))
        total -= sum(float(joint[z, k]) * (logits[k] - log_sum) for k in range(len(u)))
    return total


def test_gradient_is_the_slope_of_the_loss(problem):
    w, u, e, joint = problem
    result = memories.gradient(w, u, e, joint)
    for i, j in ((0, 0), (1, 3), (3, 2)):
        step = torch.zeros_like(w)
        step[i, j] = 1e-5
        high, low = (loss_by_loops(w + sign * step, u, e, joint) for sign in (1, -1))
        assert float(result[i, j]) == pytest.approx((high - low) / 2e-5, abs=1e-9)


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
        recall, _ = train(everything.first(n), least_recall=1.0, evaluations=3000, patience=200)
        assert (recall == 1.0) == expected


def test_beyond_capacity_training_finds_the_least_loss():
    pairs = draw(30, 4, 1, CPU)
    _, result = train(pairs, least_recall=1.1, evaluations=3000, patience=200)
    e, u = pairs.e.double().numpy(), pairs.u.double().numpy()

    def loss(flat):
        logits = e @ flat.reshape(4, 4).T @ u.T
        return np.mean(np.log(np.exp(logits).sum(axis=1)) - np.diagonal(logits))

    assert result == pytest.approx(minimize(loss, np.zeros(16)).fun, rel=1e-4)


@pytest.fixture
def answers():
    stream = torch.Generator().manual_seed(0)
    h = 3 * torch.randn(2, 7, 4, generator=stream, dtype=torch.float64)
    u = torch.randn(2, 5, 4, generator=stream, dtype=torch.float64)
    return h, u, torch.randint(5, (2, 7), generator=stream)


@pytest.mark.parametrize("block", [1, 20, 10**6], ids=["rows", "parts", "whole"])
def test_loss_and_gradient_are_torchs(answers, close, monkeypatch, block):
    monkeypatch.setattr(memories, "BLOCK", block)
    h, u, target = answers
    result = scored(h, u, target)
    h.requires_grad_()
    for run in range(2):
        logits = h[run] @ u[run].T
        expected = cross_entropy(logits, target[run])
        close(result.loss[run], expected.detach(), 1e-12)
        close(result.gradient[run], torch.autograd.grad(expected, h)[0][run], 1e-12)
        assert torch.equal(result.right[run], logits.argmax(dim=1) == target[run])


def test_logits_far_apart_lose_nothing_that_counts(answers, close):
    h, u, target = answers
    result = scored((1e3 * h).float(), u.float(), target)
    logits = (1e3 * h) @ u.mT
    expected = torch.stack([cross_entropy(*pair) for pair in zip(logits, target, strict=True)])
    close(result.loss.double(), expected, 1e-5)
    assert torch.isfinite(result.gradient).all()
