"""The search for capacity, its prediction and the stored capacities, against oracles."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from chapters.companions.associative_memories import PRESET, capacity, limits, stored
from chapters.companions.associative_memories.capacity import Bracket
from chapters.companions.associative_memories.model import draw, linear
from chapters.companions.associative_memories.training import train
from stored_runs import stored_text

CPU = torch.device("cpu")


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
        start = np.full(n, g.mean())
        distances.append(minimize(lambda x, g=g: ((x - g) ** 2).sum(), start, constraints=cone).fun)
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
    with pytest.raises(ArithmeticError, match="still move"):
        limits.expected_pairs(4, 2000, 0)  # so few that every iteration moves them


def test_the_hebbian_sum_holds_what_overlaps_allow():
    settings = PRESET["paper"].settings
    found = capacity.hebbian_capacity(64, 0, 100.0, settings, centred=False)
    assert found.capacity == pytest.approx(limits.hebbian_pairs(64, 0.99), rel=0.05)
    widths = (2**8, 2**16, 2**60)
    held = [limits.hebbian_pairs(d, 0.99) for d in widths]
    shares = [n * np.log(n) / d**2 for n, d in zip(held, widths, strict=True)]
    assert shares == sorted(shares)
    assert 0.35 < shares[-1] < 0.5


def test_the_logarithm_is_half_the_dimension_in_the_limit():
    shares = [limits.share_of_square(10**k, 2000, 0) for k in (2, 10, 100, 300)]
    assert shares == sorted(shares, reverse=True)
    assert 0.5 < shares[-1] < 0.52
    assert limits.guide(100.0) * np.log(limits.guide(100.0)) == pytest.approx(100.0)


def test_trained_capacity_is_near_the_expected_one():
    settings = PRESET["smoke"].settings
    found = capacity.linear_capacity(16, 0, 60.0, settings, CPU)
    assert found.capacity == pytest.approx(limits.expected_pairs(16, 4000, 0), rel=0.25)


SETTINGS = PRESET["paper"].settings


@pytest.fixture(scope="module")
def found():
    return stored.read(stored_text("associative_memories"))


def test_the_file_holds_what_is_declared(found):
    assert tuple(found) == stored.CELLS
    assert all(b.stored < b.lost <= b.stored * SETTINGS.tolerance**2 for b in found.values())


def test_a_sample_is_stored(found):
    cell = stored.CELLS[-1]
    pairs = draw(int(1.2 * found[cell].lost), cell.dim, cell.seed, torch.device("cpu"))
    trained = train(
        linear(cell.dim),
        pairs.first(found[cell].stored),
        least_recall=SETTINGS.least_recall,
        evaluations=SETTINGS.evaluations,
        patience=SETTINGS.patience,
    )
    assert trained.recall >= SETTINGS.least_recall


def test_a_search_is_that_of_the_chapter(monkeypatch):
    settings = PRESET["smoke"].settings
    bracket = Bracket(**stored.run(stored.Cell(16, 0), settings))
    assert 0.7 < bracket.capacity / stored.limits.expected_pairs(16, settings.samples, 0) < 1.4
    monkeypatch.setattr(stored, "linear_capacity", lambda *given: given[3] == SETTINGS and bracket)
    assert Bracket(**stored.run(stored.Cell(16, 0))) == bracket
