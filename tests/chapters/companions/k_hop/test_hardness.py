"""How hard it is to find what is hidden: agreements, gradients, and the minimal model."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
import torch

from chapters.companions.k_hop import composer, hardness


def by_hand(hidden, other):
    """How often two tuples agree, in plain Python."""
    n, k = len(hidden[0]), len(hidden)
    same = total = 0
    for given in product(permutations(range(n)), repeat=k):
        for x in range(n):
            ends = []
            for tuple_ in (hidden, other):
                value = x
                for p, s in zip(tuple_, given, strict=True):
                    value = s[p[value]]
                ends.append(value)
            same, total = same + (ends[0] == ends[1]), total + 1
    return Fraction(same, total)


@pytest.mark.parametrize(
    ("hidden", "other"),
    [
        (((0, 1, 2),), ((1, 0, 2),)),
        (((0, 1, 2), (2, 1, 0)), ((1, 2, 0), (2, 0, 1))),
        (((0, 1, 2, 3), (2, 1, 0, 3)), ((0, 1, 2, 3), (2, 1, 3, 0))),
    ],
)
def test_excess_as_by_counting(hidden, other):
    agreements = (np.array(hidden) == np.array(other)).sum(axis=1).tolist()
    n = len(hidden[0])
    assert by_hand(hidden, other) == Fraction(1, n) + hardness.excess(agreements, n)


@pytest.mark.parametrize(("n", "k"), [(2, 3), (3, 1), (3, 2)])
def test_all_pairs_agree_as_the_formula_says(n, k):
    assert (hardness.agreeing(n, k) == hardness.formula(n, k)).all()
    found = hardness.spectrum(n, k)
    assert found.rank == (n - 1) ** (2 * k)
    assert found.greatest == pytest.approx(hardness.bound(n, k), rel=1e-9)
    assert found.least == pytest.approx(hardness.bound(n, k), rel=1e-9)


def test_the_mean_square_is_that_of_one_over_n_minus_one():
    assert [hardness.mean_square(n) for n in (2, 3, 5)] == [1, Fraction(1, 4), Fraction(1, 16)]


def test_the_bound_holds_for_random_queries_and_is_attained():
    n, k = 3, 1
    given = hardness.answers(n, k)
    functions = np.eye(n)[given] - 1 / n  # tuples, questions, N
    drawn = np.random.default_rng(0).normal(size=(200, *functions.shape[1:]))
    drawn = np.concatenate([drawn, functions[:1]])  # a hidden tuple's own answers
    caught = np.einsum("gqn,tqn->gt", drawn, functions) / functions.shape[1]
    norms = (drawn**2).sum(-1).mean(-1)
    shares = (caught**2).mean(1) / norms / hardness.bound(n, k)
    assert shares.max() == pytest.approx(1)
    assert (shares[:-1] < 1).all()


def test_shares_of_gradients_as_by_autograd():
    """The variance over hidden tuples of the gradient of the cross-entropy, by brute force."""
    n, k, width = 3, 1, 4
    shares = hardness.gradient_shares(n, k, width, generator=torch.Generator().manual_seed(0))
    stream = torch.Generator().manual_seed(0)
    given, right = hardness.tuples(n, k), torch.from_numpy(hardness.answers(n, k))
    context = torch.nn.functional.one_hot(torch.from_numpy(given), n).flatten(1).double()
    inputs = torch.cat(
        [context.repeat_interleave(n, 0), torch.eye(n).double().repeat(len(given), 1)], dim=1
    )
    first = torch.randn(inputs.shape[1], width, generator=stream, dtype=torch.float64)
    second = torch.randn(width, n, generator=stream, dtype=torch.float64) / width**0.5
    second.requires_grad_()
    inner = (inputs @ first / inputs.shape[1] ** 0.5).relu()
    losses = [torch.nn.functional.cross_entropy(inner @ second, target) for target in right]
    gradients = torch.stack([torch.autograd.grad(loss, second)[0] for loss in losses])
    allowed = hardness.bound(n, k) * inner.square().mean(0)[:, None]
    expected = gradients.var(0, correction=0) / allowed
    assert shares[: width * n] == pytest.approx(expected.detach().flatten().numpy(), rel=1e-9)
    assert shares.max() <= 1


def loss(logits, shares, n):
    """The mean cross-entropy."""
    right = 1 / n + (1 - 1 / n) * composer.overlaps(logits, n).cumprod()
    return float(-(np.asarray(shares) * np.log(right)).sum())


def test_velocity_is_minus_the_gradient_of_the_loss():
    logits, shares = np.array([0.4, 1.1, -0.3]), np.array([0.2, 0.3, 0.5])
    found = composer.velocity(logits, shares, 5)
    for i in range(3):
        step = np.eye(3)[i] * 1e-6
        slope = loss(logits + step, shares, 5) - loss(logits - step, shares, 5)
        assert found[i] == pytest.approx(-slope / 2e-6, rel=1e-6)


def test_the_loss_is_that_of_matrices_on_any_question():
    """Softmax matrices and permutations multiplied out; the same for every question."""
    rng, n = np.random.default_rng(0), 4
    logits = np.array([0.7, 1.3])
    hidden, given = ([rng.permutation(n) for _ in range(2)] for _ in range(2))
    state = np.eye(n)[2]
    value = 2
    for a, p, s in zip(logits, hidden, given, strict=True):
        weights = np.exp(a * np.eye(n)[p])  # row: from a symbol; its entries: to a symbol
        state = state @ (weights / weights.sum(1, keepdims=True)) @ np.eye(n)[s]
        value = s[p[value]]
    assert -np.log(state[value]) == pytest.approx(loss(logits, [0.0, 1.0], n))


def test_overlaps_and_their_inverse():
    start = np.array([0.1, 0.5])
    assert composer.overlaps(composer.logits_at(start, 6), 6) == pytest.approx(start)
    assert composer.overlaps(np.zeros(1), 6) == 0


def test_one_hop_is_the_same_however_it_is_asked_for():
    waits = [ask(1, 6, 0.2) for ask in (composer.alone, composer.mixed, composer.staged)]
    assert waits == pytest.approx([waits[0]] * 3, rel=1e-6)


def test_alone_is_soon_the_slowest_and_never_from_nothing():
    assert composer.alone(4, 8, 0.05) > 2 * composer.mixed(4, 8, 0.05) > 0
    with pytest.raises(ArithmeticError, match="2 hops are not held"):
        composer.flow([0.0, 1.0], 8, np.zeros(2), until=100.0)
