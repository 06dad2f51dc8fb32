"""The minimal model against its own loss and a real product of matrices."""

import numpy as np
import pytest

from chapters.companions.k_hop import composer


def test_velocity_is_minus_the_gradient_of_the_loss():
    logits, shares = np.array([0.4, 1.1, -0.3]), np.array([0.2, 0.3, 0.5])
    found = composer.velocity(logits, shares, 5)
    for i in range(3):
        step = np.eye(3)[i] * 1e-6
        slope = composer.loss(logits + step, shares, 5) - composer.loss(logits - step, shares, 5)
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
    assert -np.log(state[value]) == pytest.approx(composer.loss(logits, [0.0, 1.0], n))


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
