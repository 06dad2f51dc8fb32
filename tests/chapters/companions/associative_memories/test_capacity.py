"""The one-step lemma, the search for capacity, its prediction and what is stored, by oracles."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from chapters.companions.associative_memories import Settings, capacity, training
from chapters.companions.associative_memories.capacity import Bracket
from chapters.companions.associative_memories.training import draw

CPU = torch.device("cpu")


@pytest.mark.parametrize("border", [2, 41, 10**5])
@pytest.mark.parametrize("guess", [3.0, 60.0, 2000.0])
@pytest.mark.parametrize("tolerance", [1.0, 1.03])
def test_search_brackets_the_border(border, guess, tolerance):
    result = capacity.search(lambda n: n <= border, guess, tolerance)
    assert result.stored <= border < result.lost
    assert result.lost <= max(result.stored + 2, result.stored * tolerance * 1.02 + 2)


def test_hebbian_recall_is_that_of_a_loop():
    total = 0
    for seed in range(2):
        pairs = draw(12, 4, seed, CPU)
        w = sum(torch.outer(u, e) for u, e in zip(pairs.u, pairs.e, strict=True))
        total += sum(int((pairs.u @ w @ pairs.e[z]).argmax()) == z for z in range(12))
    assert 0 < total < 24
    assert capacity.hebbian_recall(12, 4, 2, 0) == pytest.approx(total / 24)


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
    assert capacity.row_dimension(n, samples, 0) == pytest.approx(np.mean(distances), abs=3 * error)


def test_two_entries_leave_a_quarter():
    # x_1 >= x_2 is a half-plane: the squared distance is (g_2 - g_1)_+^2 / 2, of mean 1/2
    assert capacity.row_dimension(2, 200_000, 0) == pytest.approx(0.5, abs=0.01)


def test_entries_that_are_not_drawn_do_not_matter():
    some = capacity.row_dimensions(2000, 1500, np.random.default_rng(0), most=128).mean()
    more = capacity.row_dimensions(2000, 1500, np.random.default_rng(1), most=1999).mean()
    assert some == pytest.approx(more, rel=0.05)


def test_expected_pairs_solve_their_equation():
    n = capacity.expected_pairs(16, 4000, 0)
    assert n * capacity.row_dimension(round(n), 4000, 0) == pytest.approx(256, rel=0.02)
    with pytest.raises(ArithmeticError, match="still move"):
        capacity.expected_pairs(4, 2000, 0)  # so few that every iteration moves them


def test_a_search_finds_about_the_expected_capacity():
    settings = Settings(evaluations=300, samples=1000)
    bracket = Bracket(**capacity.run(capacity.Cell(16, 0), settings))
    assert bracket.capacity == pytest.approx(capacity.expected_pairs(16, 4000, 0), rel=0.25)


@pytest.fixture
def problem():
    """Random embeddings, weights and joint distribution, with different numbers of z and y."""
    stream = torch.Generator().manual_seed(0)
    e = training.unit(5, 4, stream, torch.float64)
    u = training.unit(3, 4, stream, torch.float64)
    w = torch.randn(4, 4, generator=stream, dtype=torch.float64)
    joint = torch.rand(5, 3, generator=stream, dtype=torch.float64)
    return w, u, e, joint / joint.sum()


def cross_entropy(w, u, e, joint):
    """The loss in pure Python."""
    total = 0.0
    for z in range(len(e)):
        logits = [float(u_k @ w @ e[z]) for u_k in u]
        log_sum = math.log(sum(map(math.exp, logits)))
        total -= sum(float(joint[z, k]) * (logits[k] - log_sum) for k in range(len(u)))
    return total


def test_gradient_is_the_slope_of_the_loss(problem):
    w, u, e, joint = problem
    result = training.gradient(w, u, e, joint)
    for i, j in ((0, 0), (1, 3), (3, 2)):
        step = torch.zeros_like(w)
        step[i, j] = 1e-5
        high, low = (cross_entropy(w + sign * step, u, e, joint) for sign in (1, -1))
        assert float(result[i, j]) == pytest.approx((high - low) / 2e-5, abs=1e-9)
