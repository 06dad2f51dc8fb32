"""Training, the search for capacity, and its prediction, against independent oracles."""

import numpy as np
import pytest
import torch
from scipy.optimize import linprog, minimize

from emergence.companions.associative_memories import capacity, limits
from emergence.companions.associative_memories.model import (
    draw,
    linear,
    mlp,
    stacked,
    train,
    train_adam,
)
from emergence.companions.associative_memories.settings import PRESET

CPU = torch.device("cpu")


def separable(pairs):
    """Whether some W gives every pair a margin of 1: a linear programme."""
    e, u = pairs.e.double().numpy(), pairs.u.double().numpy()
    rows = [
        -np.outer(u[z] - u[k], e[z]).ravel() for z in range(len(e)) for k in range(len(e)) if k != z
    ]
    size = e.shape[1] ** 2
    found = linprog(np.zeros(size), A_ub=rows, b_ub=-np.ones(len(rows)), bounds=(None, None))
    return found.status == 0


@pytest.mark.parametrize("seed", range(3))
def test_training_stores_all_pairs_just_where_that_is_possible(seed):
    everything = draw(20, 4, seed, CPU)
    possible = {n: separable(everything.first(n)) for n in range(4, 16)}
    assert any(possible.values())
    assert not all(possible.values())
    for n, expected in possible.items():
        found = train(linear(4), everything.first(n), recall=1.0, evaluations=3000, patience=200)
        assert (found.recall == 1.0) == expected


def test_training_returns_the_parameters_with_the_recall_it_names():
    pairs = draw(40, 16, 0, CPU)
    found = train(linear(16), pairs, recall=0.99, evaluations=200, patience=30)
    logits = pairs.e @ found.parameters[0].T @ pairs.u.T
    assert float((logits.argmax(1) == torch.arange(40)).float().mean()) == found.recall == 1.0


def test_beyond_capacity_training_finds_the_least_loss():
    pairs = draw(30, 4, 1, CPU)
    found = train(linear(4), pairs, recall=1.1, evaluations=3000, patience=200)
    e, u = pairs.e.double().numpy(), pairs.u.double().numpy()

    def loss(flat):
        logits = e @ flat.reshape(4, 4).T @ u.T
        return np.mean(np.log(np.exp(logits).sum(axis=1)) - np.diagonal(logits))

    assert found.loss == pytest.approx(minimize(loss, np.zeros(16)).fun, rel=1e-4)


def test_the_first_pairs_do_not_depend_on_how_many_are_drawn():
    assert torch.equal(draw(50, 8, 3, CPU).first(20).e, draw(20, 8, 3, CPU).e)
    assert not torch.equal(draw(20, 8, 3, CPU).u, draw(20, 8, 4, CPU).u)
    assert not torch.equal(draw(20, 8, 3, CPU).u, draw(20, 8, 3, CPU).e)


def test_runs_trained_together_do_not_see_each_other():
    pairs = [draw(30, 8, seed, CPU) for seed in range(2)]
    streams = [torch.Generator().manual_seed(i) for i in range(2)]
    memory = mlp(8, 8, streams)
    options = {"recall": 1.1, "learning_rate": 0.03, "steps": 65, "patience": 1000}
    together = train_adam(memory, pairs, **options)
    alone = train_adam(
        memory._replace(start=[part[1:] for part in memory.start]), pairs[1:], **options
    )
    assert together[1] == pytest.approx(alone[0], abs=1 / 30)
    assert together.max() > 0.3


def test_adam_stores_a_few_pairs_with_either_memory():
    pairs = [draw(16, 8, seed, CPU) for seed in range(2)]
    options = {"recall": 1.0, "learning_rate": 0.03, "steps": 1000, "patience": 1000}
    streams = [torch.Generator().manual_seed(i) for i in range(2)]
    assert train_adam(stacked(linear(8), 2), pairs, **options).tolist() == [1.0, 1.0]
    assert train_adam(mlp(8, 16, streams), pairs, **options).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("border", [2, 7, 50, 1000, 10**5])
@pytest.mark.parametrize("guess", [3.0, 60.0, 2000.0])
@pytest.mark.parametrize("tolerance", [1.0, 1.03])
def test_search_brackets_the_border(border, guess, tolerance):
    found = capacity.search(lambda n: n <= border, guess, tolerance)
    assert found.stored <= border < found.lost
    assert found.lost <= max(found.stored + 2, found.stored * tolerance * 1.02 + 2)


def test_search_with_no_tolerance_is_exact():
    assert capacity.search(lambda n: n <= 41, 30.0, 1.0) == (41, 42)


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
        found = minimize(
            lambda x, g=g: ((x - g) ** 2).sum(), np.full(n, g.mean()), constraints=cone
        )
        distances.append(found.fun)
    error = np.std(distances) / 300**0.5
    assert limits.row_dimension(n, samples, 0) == pytest.approx(np.mean(distances), abs=3 * error)


def test_two_entries_leave_a_quarter():
    # x_1 >= x_2 is a half-plane: the squared distance is (g_2 - g_1)_+^2 / 2, of mean 1/2
    assert limits.row_dimension(2, 200_000, 0) == pytest.approx(0.5, abs=0.01)


def test_entries_that_are_not_drawn_do_not_matter():
    some = limits.row_dimensions(2000, 4000, np.random.default_rng(0), most=128).mean()
    more = limits.row_dimensions(2000, 4000, np.random.default_rng(1), most=1999).mean()
    assert some == pytest.approx(more, rel=0.05)


def test_expected_pairs_solve_their_equation():
    n = limits.expected_pairs(16, 4000, 0)
    assert n * limits.row_dimension(round(n), 4000, 0) == pytest.approx(256, rel=0.02)
    assert limits.guide(100.0) * np.log(limits.guide(100.0)) == pytest.approx(100.0)


def test_trained_capacity_is_near_the_expected_one():
    settings = PRESET["smoke"].settings
    found = capacity.linear_capacity(16, 0, 60.0, settings, CPU)
    assert found.capacity == pytest.approx(limits.expected_pairs(16, 4000, 0), rel=0.25)
