"""How hard it is to find what is hidden: agreements, gradients, and the minimal model."""

from itertools import permutations, product

import numpy as np
import pytest
import torch

from chapters.companions.k_hop import composer, hardness


def by_hand(hidden, other):
    """On how many questions two tuples agree, in plain Python."""
    n, k = len(hidden[0]), len(hidden)
    same = 0
    for given in product(permutations(range(n)), repeat=k):
        for x in range(n):
            ends = []
            for tuple_ in (hidden, other):
                value = x
                for p, s in zip(tuple_, given, strict=True):
                    value = s[p[value]]
                ends.append(value)
            same += ends[0] == ends[1]
    return same


@pytest.mark.parametrize(
    ("hidden", "other"),
    [
        (((0, 1, 2),), ((1, 0, 2),)),
        (((0, 1, 2), (2, 1, 0)), ((1, 2, 0), (2, 0, 1))),
        (((0, 1, 2, 3), (2, 1, 0, 3)), ((0, 1, 2, 3), (2, 1, 3, 0))),
    ],
)
def test_agreements_as_by_hand(hidden, other):
    n, k = len(hidden[0]), len(hidden)
    every = hardness.tuples(n, k)
    first, second = ((every == each).all(axis=(1, 2)).argmax() for each in (hidden, other))
    counts = hardness.formula(n, k)[first, second], hardness.agreeing(n, k)[first, second]
    assert counts == (by_hand(hidden, other),) * 2


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
    result = composer.velocity(logits, shares, 5)
    for i in range(3):
        step = np.eye(3)[i] * 1e-6
        slope = loss(logits + step, shares, 5) - loss(logits - step, shares, 5)
        assert result[i] == pytest.approx(-slope / 2e-6, rel=1e-6)


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


def test_one_hop_is_the_same_however_it_is_asked_for():
    waits = [ask(1, 6, 0.2) for ask in (composer.alone, composer.mixed, composer.staged)]
    assert waits == pytest.approx([waits[0]] * 3, rel=1e-6)


def test_alone_is_soon_the_slowest_and_never_from_nothing():
    assert composer.alone(4, 8, 0.05) > 2 * composer.mixed(4, 8, 0.05) > 0
    with pytest.raises(ArithmeticError, match="2 hops are not held"):
        composer.flow([0.0, 1.0], 8, np.zeros(2), until=100.0)
